"""Names of materials that come from files: a scene knows materials by name, files need not."""

from __future__ import annotations

from tussock.scene.material import Material

__all__ = ["MaterialNames"]


class MaterialNames:
    """Gives two different materials of one name different names."""

    def __init__(self) -> None:
        self._known: dict[str, Material] = {}

    def named(self, material: Material) -> Material:
        """The material, under its own name or the next free one after it."""
        name, number = material.name, 1
        while self._known.setdefault(name, material.changed(name=name)) != material.changed(name=name):
            number += 1
            name = f"{material.name}-{number}"
        return self._known[name]
