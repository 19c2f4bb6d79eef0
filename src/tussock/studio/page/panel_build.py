"""Building: place, move, copy, remove and grow things, paint grass, undo and redo."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tussock.errors import InputError
from tussock.scene.scene import Scene, SceneObject
from tussock.scene_files.mesh_files import load_mesh
from tussock.studio.building import Thing, copied, matrix_of, moved, parts_of, placed, removed, reshaped
from tussock.studio.grass_brush import erased, ground_world, painted
from tussock.studio.kinds import PLACEABLE, kind_named, shape_of
from tussock.studio.picking import Met, met_along

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["BuildPanel"]


_BEFORE_M = 5.0
"""[m] from the sensor to a thing that a file brings"""
_ABOVE_M = 30.0
"""[m] above the sensor from where the ground is looked for"""


class BuildPanel:
    """The tab of building. A thing is chosen by a click with the tool *select*, and moved by its gizmo."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._gui, self._studio = gui, studio
        self.chosen: Thing | None = None
        self._grown: dict[str, tuple[str, dict[str, float]]] = {}
        """kind and knobs of what was placed here, by the object's name"""
        self._gizmo: Any = None
        self._ground: tuple[Scene, Any] | None = None
        self._about = gui.add_html("")
        self._undo = gui.add_button("undo")
        self._redo = gui.add_button("redo")
        self._copy = gui.add_button("copy", disabled=True)
        self._remove = gui.add_button("remove", color="red", disabled=True)
        with gui.add_folder("place"):
            gui.add_markdown("Set *click* to **place** and click where it shall stand.")
            self._kind = gui.add_dropdown("what", tuple(PLACEABLE), initial_value="tree")
            self._knobs_folder = gui.add_folder("grow")
        self._knobs: dict[str, Any] = {}
        with gui.add_folder("grass"):
            gui.add_markdown("Set *click* to **paint** or **erase** and click on the ground.")
            self._brush = gui.add_slider("brush radius [m]", min=0.5, max=15.0, step=0.5, initial_value=3.0)
            self._blades = gui.add_slider("blades a m²", min=20, max=400, step=10, initial_value=150)
            self._height = gui.add_slider("height [m] ", min=0.05, max=1.0, step=0.05, initial_value=0.25)
        self._show_knobs()
        self._listen()

    def _listen(self) -> None:
        studio = self._studio

        @self._kind.on_update
        def _(_: Any) -> None:
            self.choose(None)
            self._show_knobs()

        for button, do in (
            (self._undo, lambda: self._step(back=True)), (self._redo, lambda: self._step(back=False)),
            (self._copy, self.copy_chosen), (self._remove, self.remove_chosen),
        ):  # fmt: skip

            @button.on_click
            def _(_: Any, do: Any = do) -> None:
                studio.guard(do)

    def _show_knobs(self) -> None:
        for handle in self._knobs.values():
            handle.remove()
        self._knobs = {}
        with self._knobs_folder:
            for knob in kind_named(str(self._kind.value)).knobs:
                name = f"{knob.name.replace('_', ' ')}{f' [{knob.unit}]' if knob.unit else ''}"
                handle = self._gui.add_slider(
                    name, min=knob.low, max=knob.high, step=knob.step, initial_value=knob.usual
                )
                self._knobs[knob.name] = handle

                @handle.on_update
                def _(_: Any) -> None:
                    self._studio.later("grow", 0.3, self._regrow)

    def values(self) -> dict[str, float]:
        return {name: float(handle.value) for name, handle in self._knobs.items()}

    @property
    def _scene(self) -> Scene:
        scene = self._studio.session.scene
        if scene is None:
            raise InputError("scene: only recorded frames are open; open a scene to build in")
        return scene

    def clicked(self, tool: str, met: Met) -> None:
        """Do what the tool does at a place that a ray met."""
        if tool == "select":
            name = next((one.name for one in self._scene.everything if one.id == met.object_id), None)
            self.choose(None if name is None else Thing(name, met.copy))
        elif tool == "place":
            self.place(str(self._kind.value), met.place, self.values())
        elif tool == "paint":
            tile = shape_of("grass", {"blades": float(self._blades.value), "height": float(self._height.value)})
            self._studio.build(painted(self._scene, self._ground_now(), tile, met.place, float(self._brush.value)))
        elif tool == "erase":
            self._studio.build(erased(self._scene, met.place, float(self._brush.value)))

    def _ground_now(self) -> Any:
        """The ground as rays see it; kept while grass is painted, which does not change it."""
        key = [thing for thing in self._scene.objects if thing.label != "grass"]
        old = [] if self._ground is None else [thing for thing in self._ground[0].objects if thing.label != "grass"]
        if self._ground is None or [id(t.mesh) for t in key] != [id(t.mesh) for t in old]:
            self._ground = (self._scene, ground_world(self._scene))
        return self._ground[1]

    def place(self, kind_name: str, place: Any, values: dict[str, float] | None = None) -> Thing:
        """Put a thing of a kind at a place on the ground [m]."""
        kind, mesh = kind_named(kind_name), shape_of(kind_name, values)
        low = float(mesh.bounds[0, 2]) if kind.rests else 0.0
        position = np.round(np.asarray(place, float) - (0, 0, low), 3)
        scene, thing = placed(self._scene, mesh, position, name=kind_name, label=kind.label, tags=kind.tags)
        self._grown[thing.name] = (kind_name, values or {})
        self._studio.build(scene)
        self.choose(thing)
        return thing

    def place_file(self, path: Path) -> Thing:
        """Put the mesh of a file on the ground some metres before the sensor, and choose it."""
        mesh, session = load_mesh(path), self._studio.session
        pose = session.ask.pose_now()
        low, high = mesh.bounds
        away = _BEFORE_M + float(np.linalg.norm(high[:2] - low[:2])) / 2
        ahead = pose.position + away * _level(pose.rotation[:, 0])
        up = np.array([0.0, 0.0, 1.0])
        met = met_along(self._ground_now(), ahead + _ABOVE_M * up, -up)
        ground = ahead - 2.0 * up if met is None else met.place
        middle = np.array([*(low[:2] + high[:2]) / 2, low[2]])
        scene, thing = placed(self._scene, mesh, np.round(ground - middle, 3), name=path.stem, label="other-object")
        self._studio.build(scene)
        self.choose(thing)
        self._studio.say(f"{path.name} stands {away:.0f} m before the sensor; drag it by its handles")
        return thing

    def _regrow(self) -> None:
        """Give the chosen thing, if it was grown here, the form that the sliders say."""
        if self.chosen is None or self.chosen.name not in self._grown:
            return
        kind, values = self._grown[self.chosen.name]
        if kind != str(self._kind.value) or values == self.values():
            return
        self._grown[self.chosen.name] = (kind, self.values())
        self._studio.build(reshaped(self._scene, self.chosen, shape_of(kind, self.values())))

    def choose(self, thing: Thing | None) -> None:
        """Make a thing the one that the buttons and the gizmo mean."""
        self.chosen = thing
        self._copy.disabled = self._remove.disabled = thing is None
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        if thing is not None:
            self._add_gizmo(thing)
        self._tell()

    def _add_gizmo(self, thing: Thing) -> None:
        found = next((one for one in self._scene.everything if one.name == thing.name), None)
        if found is None or thing.copy >= len(found.placements):
            self.chosen = None
            return
        if isinstance(found, SceneObject) and found.motion is not None:
            return
        old = found.placements.matrices[thing.copy]
        place, wxyz = parts_of(old)
        origin = self._studio.stage.origin
        self._gizmo = self._studio.gizmo("/chosen", place - origin, wxyz)

        @self._gizmo.on_update
        async def _(event: Any) -> None:
            if event.phase == "end":
                matrix = matrix_of(np.asarray(event.target.position) + origin, event.target.wxyz, old)
                self._studio.later("moved", 0.0, lambda: self.move_chosen(matrix))

    def move_chosen(self, matrix: Any) -> None:
        """Put the chosen thing elsewhere: ``matrix`` (3, 4) maps its shape to the world."""
        if self.chosen is not None:
            thing = self.chosen
            self._studio.build(moved(self._scene, thing, matrix))
            self.choose(thing)

    def copy_chosen(self) -> None:
        if self.chosen is not None:
            scene, thing = copied(self._scene, self.chosen)
            self._studio.build(scene)
            self.choose(thing)

    def remove_chosen(self) -> None:
        if self.chosen is not None:
            scene = removed(self._scene, self.chosen)
            self.choose(None)
            self._studio.build(scene)

    def _step(self, *, back: bool) -> None:
        history = self._studio.session.history
        if history is not None:
            _ = history.undo() if back else history.redo()
            self.choose(None)
            self._studio.refresh()

    def update(self) -> None:
        """Show what can be undone."""
        history = self._studio.session.history
        self._undo.disabled = history is None or not history.back
        self._redo.disabled = history is None or not history.forth
        self._tell()

    def _tell(self) -> None:
        scene = self._studio.session.scene
        size = "" if scene is None else f"{len(scene.everything)} objects, {scene.placement_count:,} copies"
        chosen = (
            "nothing chosen" if self.chosen is None else f"<b>{escape(self.chosen.name)}</b>, copy {self.chosen.copy}"
        )
        self._about.content = f"<div style='margin:0 1em .5em 1em;font-size:.85em'>{size}<br>{chosen}</div>"


def _level(forward: Any) -> Any:
    """A direction (3,) as it is in plan, of length 1; along x for one that points up or down."""
    flat = np.array([forward[0], forward[1], 0.0])
    length = float(np.linalg.norm(flat))
    return flat / length if length > 1e-3 else np.array([1.0, 0.0, 0.0])
