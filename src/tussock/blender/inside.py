"""The part that runs inside Blender's Python, in a process of its own; it needs bpy and NumPy and nothing of Tussock.

Blender keeps one file open per process and brings its own libraries, so Tussock does not import it: this file is
run as a script, reads or writes a .blend, and leaves what it found as ``blend.json`` and ``arrays.npz`` in a folder.
`tussock.blender.load` makes a scene of it. Scripts inside the .blend are not run.

Evaluated objects are taken, with their modifiers. Instances (of collections, on faces, by geometry nodes) and linked
duplicates share one shape. Where anything is animated, every frame of the scene's range is evaluated, or those around
the time that is asked for (``ask``: nothing is evaluated then, and what the time depends on is told).
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

__all__: list[str] = []

_MESHABLE = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
_UNREAD = {
    "CURVES": "hair",
    "POINTCLOUD": "a point cloud",
    "VOLUME": "a volume",
    "GPENCIL": "a grease pencil",
    "GREASEPENCIL": "a grease pencil",
}
"""kinds of objects that are seen in Blender and not here"""
_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT"}
"""modifiers whose state depends on the frames before"""


class Refused(Exception):
    """Something in the .blend cannot be used; its text is shown to the user."""


def export(blend: str, folder: Path, when: str = "all") -> dict[str, Any]:
    """Everything that a sensor could see in the .blend, and the cameras that are sensors.

    ``when``: "all" frames, those around a time "START,END" [s] since the first, or "ask": where there are more than three,
    what cameras are sensors is told and nothing else, so that the time can be known.
    """
    import bpy

    _open(blend)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    frames = list(range(scene.frame_start, scene.frame_end + 1)) if _animated() else [scene.frame_current]
    beginning = frames[0]
    if when == "ask" and len(frames) > 3:
        sensors = [thing for thing in scene.objects if thing.type == "CAMERA" and _sensor_of(thing) is not None]
        return {"asked": [_camera(thing) for thing in sensors]}
    if when not in ("all", "ask") and len(frames) > 1:
        frames = _around(frames, *(beginning + float(time) * rate for time in when.split(",")))
        for frame in range(beginning, frames[0]) if _simulated() else ():
            scene.frame_set(frame)
    shapes = _Shapes()
    notes: dict[str, None] = {}
    things: dict[str, dict[str, Any]] = {}
    cameras: dict[str, dict[str, Any]] = {}
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        seen: set[str] = set()
        for instance in graph.object_instances:
            thing = instance.object
            own = thing.original
            if thing.type == "CAMERA" and not instance.is_instance and _sensor_of(own) is not None:
                entry = cameras.setdefault(own.name, _camera(own))
                entry["matrices"].append(_rows(instance.matrix_world))
            if own.hide_render:
                continue
            notes |= dict.fromkeys(_unread(thing, own))
            if thing.type not in _MESHABLE or not instance.show_self:
                continue
            key = _identity(instance)
            if key in seen:
                continue
            seen.add(key)
            shape = shapes.of(thing, graph)
            if shape is None:
                continue
            if key not in things:
                emitter = instance.parent.original if instance.is_instance and instance.parent else None
                things[key] = {**_described(own, emitter), "shapes": [], "matrices": []}
            entry = things[key]
            entry["shapes"].append(shape)
            entry["matrices"].append(_rows(instance.matrix_world))
    for entry in things.values():
        if len(entry["matrices"]) != len(frames):
            raise Refused(
                f"object {entry['name']!r}: is not there in every frame; keyframed visibility cannot be scanned"
            )
        if len(set(entry["shapes"])) == 1:
            entry["shapes"] = entry["shapes"][:1]
        if all(m == entry["matrices"][0] for m in entry["matrices"]):
            entry["matrices"] = entry["matrices"][:1]
    np.savez(folder / "arrays.npz", **shapes.arrays())
    return {
        "name": Path(blend).stem,
        "times": [(frame - beginning) / rate for frame in frames],
        "notes": list(notes),
        "shapes": shapes.described,
        "things": list(things.values()),
        "cameras": list(cameras.values()),
        "blender": bpy.app.version_string,
    }


def add_points(blend: str, target: str, folder: Path) -> dict[str, Any]:
    """Copy the .blend to ``target`` with the clouds of ``arrays.npz`` in it, each a mesh of bare vertices."""
    import bpy

    _open(blend)
    home = bpy.data.collections.new("tussock points")
    bpy.context.scene.collection.children.link(home)
    with np.load(folder / "arrays.npz") as arrays:
        for name in arrays.files:
            mesh = bpy.data.meshes.new(name)
            mesh.vertices.add(len(arrays[name]))
            mesh.vertices.foreach_set("co", np.ascontiguousarray(arrays[name], np.float32).ravel())
            mesh.update()
            home.objects.link(bpy.data.objects.new(name, mesh))
    bpy.ops.wm.save_as_mainfile(filepath=target, copy=True, check_existing=False)
    return {}


def _open(blend: str) -> None:
    import bpy

    try:
        bpy.ops.wm.open_mainfile(filepath=blend, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise Refused(f"not a readable .blend ({' '.join(str(error).split())})") from None


def _animated() -> bool:
    """Whether anything can change with time; a still scene is evaluated once."""
    import bpy

    if bpy.data.actions or bpy.context.scene.rigidbody_world is not None:
        return True
    moving = {
        "CLOTH",
        "SOFT_BODY",
        "FLUID",
        "OCEAN",
        "DYNAMIC_PAINT",
        "WAVE",
        "BUILD",
        "MESH_CACHE",
        "MESH_SEQUENCE_CACHE",
    }
    for thing in bpy.data.objects:
        if thing.animation_data is not None and thing.animation_data.drivers:
            return True
        if any(modifier.type in moving for modifier in thing.modifiers):
            return True
    return False


def _simulated() -> bool:
    """Whether a frame depends on those before it."""
    import bpy

    return bpy.context.scene.rigidbody_world is not None or any(
        modifier.type in _SIMULATED for thing in bpy.data.objects for modifier in thing.modifiers
    )


def _around(frames: list[int], start: float, end: float) -> list[int]:
    """The frames from the last one before ``start`` to the first one after ``end``."""
    low = max((frame for frame in frames if frame <= start), default=frames[0])
    high = min((frame for frame in frames if frame >= end), default=frames[-1])
    return [frame for frame in frames if low <= frame <= high]


def _unread(thing: Any, own: Any) -> list[str]:
    """What of an object is seen in Blender and not read here, each in one line."""
    said = []
    if thing.type in _UNREAD:
        said.append(f"object {own.name!r}: is {_UNREAD[thing.type]}, which is not read; convert it to a mesh")
    for system in own.particle_systems:
        strands = system.settings
        if strands.type == "HAIR" and strands.render_type == "PATH":
            said.append(
                f"object {own.name!r}: strand hair {system.name!r} is not read; convert it to a mesh, or render it as objects"
            )
    return said


def _identity(instance: Any) -> str:
    """A name that an instance keeps from frame to frame."""
    parent = instance.parent.original.name if instance.is_instance and instance.parent else ""
    numbers = [n for n in instance.persistent_id if n != 0x7FFFFFFF] if instance.is_instance else []
    return json.dumps([parent, instance.object.original.name, numbers])


def _rows(matrix: Any) -> list[list[float]]:
    return [[float(v) for v in row] for row in matrix][:3]


def _property(owner: Any, key: str) -> Any:
    """A custom property as plain data."""
    if owner is None or key not in owner:
        return None
    value = owner[key]
    return value.to_list() if hasattr(value, "to_list") else value


def _sensor_of(camera: Any) -> Any:
    found = _property(camera, "tussock_sensor")
    return found if found is not None else _property(camera.data, "tussock_sensor")


def _camera(camera: Any) -> dict[str, Any]:
    settings = {}
    for owner in (camera.data, camera):
        for key in owner.keys():  # noqa: SIM118  (not a dict)
            if key.startswith("tussock."):
                settings[key.removeprefix("tussock.")] = _property(owner, key)
    return {"name": camera.name, "sensor": _sensor_of(camera), "settings": settings, "matrices": []}


def _collections(thing: Any) -> list[Any]:
    return [c for c in thing.users_collection if c.name != "Scene Collection"]


def _label(thing: Any) -> Any:
    """The label of an object, from itself, its mesh or its collections."""
    owners = (thing, thing.data, *_collections(thing))
    return next((found for owner in owners if (found := _property(owner, "tussock_label")) is not None), None)


def _described(thing: Any, emitter: Any) -> dict[str, Any]:
    """Name, label and tags, from the object, its mesh and its collections; ``emitter``: what made an instance of it."""
    collections = _collections(thing)
    tags: list[str] = []
    for owner in (thing, thing.data, *collections):
        given = _property(owner, "tussock_tags")
        tags += [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given or [])
    return {
        "name": thing.name,
        "data": thing.data.name,
        "label": _label(thing),
        "collections": [c.name for c in collections],
        "emitter": None
        if emitter is None
        else {"name": emitter.name, "label": _label(emitter), "collections": [c.name for c in _collections(emitter)]},
        "tags": sorted({*tags, *(c.name for c in collections)} - {""}),
    }


class _Shapes:
    """Every different mesh once, by its contents."""

    def __init__(self) -> None:
        self.described: list[dict[str, Any]] = []
        self._arrays: dict[str, Any] = {}
        self._by_contents: dict[str, int] = {}
        self._by_data: dict[str, int | None] = {}
        self._materials: dict[str, dict[str, Any]] = {}

    def arrays(self) -> dict[str, Any]:
        return self._arrays

    def of(self, thing: Any, graph: Any) -> int | None:
        """Number of the shape of an evaluated object; None where it has no triangles."""
        own = thing.original
        # A mesh without modifiers is what its data say, for all its users and at all times.
        plain = own.type == "MESH" and not own.modifiers and not own.data.shape_keys
        slots = [slot.material.name if slot.material else "" for slot in own.material_slots]
        key = json.dumps([own.data.name, slots])
        if plain and key in self._by_data:
            return self._by_data[key]
        number = self._add(thing, own)
        if plain:
            self._by_data[key] = number
        return number

    def _add(self, thing: Any, own: Any) -> int | None:
        mesh = thing.to_mesh()
        try:
            if mesh is None:
                return None
            mesh.calc_loop_triangles()
            count = len(mesh.loop_triangles)
            if count == 0:
                return None
            vertices = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", vertices)
            triangles = np.empty(3 * count, np.int32)
            mesh.loop_triangles.foreach_get("vertices", triangles)
            chosen = np.empty(count, np.int32)
            mesh.loop_triangles.foreach_get("material_index", chosen)
        finally:
            thing.to_mesh_clear()
        materials = [self._material(slot.material) for slot in own.material_slots] or [None]
        digest = hashlib.blake2b(digest_size=16)
        for array in (vertices, triangles, chosen):
            digest.update(array.tobytes())
        digest.update(json.dumps(materials).encode())
        contents = digest.hexdigest()
        if contents not in self._by_contents:
            number = len(self.described)
            self._by_contents[contents] = number
            self._arrays[f"vertices{number}"] = vertices.reshape(-1, 3)
            self._arrays[f"triangles{number}"] = triangles.reshape(-1, 3)
            self._arrays[f"chosen{number}"] = np.clip(chosen, 0, len(materials) - 1)
            self.described.append({"materials": materials})
        return self._by_contents[contents]

    def _material(self, material: Any) -> dict[str, Any] | None:
        if material is None:
            return None
        if material.name not in self._materials:
            self._materials[material.name] = _material(material)
        return self._materials[material.name]


def _material(material: Any) -> dict[str, Any]:
    """Colour and shares of light: from the shader's nodes, then the custom properties, which go before."""
    found: dict[str, Any] = {"name": material.name}
    if material.use_nodes and material.node_tree:
        found |= _of_nodes(material)
    else:
        found["color"] = [float(c) for c in material.diffuse_color[:3]]
    for key in (
        "reflectance",
        "specular",
        "shininess",
        "retro",
        "mirror",
        "transmission",
        "refractive_index",
        "label",
    ):
        value = _property(material, f"tussock_{key}")
        if value is not None:
            found[key] = value
    if "reflectance" not in found and found.get("color") is None:
        raise Refused(
            f"material {material.name!r}: has no colour to take a reflectance from; "
            "set its custom property tussock_reflectance"
        )
    return found


def _of_nodes(material: Any) -> dict[str, Any]:
    nodes = {node.type: node for node in material.node_tree.nodes}
    if "BSDF_PRINCIPLED" in nodes:
        node = nodes["BSDF_PRINCIPLED"]
        found: dict[str, Any] = {"color": _color(node.inputs["Base Color"])}
        through = node.inputs.get("Transmission Weight") or node.inputs.get("Transmission")
        if through is not None and through.default_value > 0:
            found["transmission"] = 0.9 * float(through.default_value)
        if node.inputs["Metallic"].default_value > 0.5 and node.inputs["Roughness"].default_value < 0.05:
            found["mirror"] = 0.9 * float(node.inputs["Metallic"].default_value)
        return found
    if "BSDF_GLASS" in nodes:
        return {"color": _color(nodes["BSDF_GLASS"].inputs["Color"]), "transmission": 0.9}
    for kind in ("BSDF_GLOSSY", "BSDF_ANISOTROPIC"):
        if kind in nodes and nodes[kind].inputs["Roughness"].default_value < 0.05:
            return {"color": _color(nodes[kind].inputs["Color"]), "mirror": 0.9}
    for kind in ("BSDF_DIFFUSE", "BSDF_GLOSSY", "BSDF_ANISOTROPIC", "EMISSION"):
        if kind in nodes:
            return {"color": _color(nodes[kind].inputs["Color"])}
    return {}


def _color(socket: Any) -> list[float] | None:
    """The value of a colour socket; the mean of an image that feeds it; None for anything else."""
    if not socket.is_linked:
        return [float(c) for c in socket.default_value[:3]]
    source = socket.links[0].from_node
    image = getattr(source, "image", None)
    if source.type != "TEX_IMAGE" or image is None or (not image.has_data and not image.pixels):
        return None
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    mean = pixels.reshape(-1, image.channels)[:, :3].mean(0)
    if image.colorspace_settings.name == "sRGB":
        mean = np.where(mean <= 0.04045, mean / 12.92, ((mean + 0.055) / 1.055) ** 2.4)
    return [float(c) for c in np.resize(mean, 3)]


def main() -> None:
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    doing, folder = words[0], Path(words[1])
    try:
        result = export(words[2], folder, *words[3:]) if doing == "export" else add_points(words[2], words[3], folder)
    except Refused as error:
        result = {"refused": str(error)}
    (folder / "blend.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
