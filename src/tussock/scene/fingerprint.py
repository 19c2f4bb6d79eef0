"""A scene in 32 characters: the same scene, the same fingerprint; anything a sensor could notice changes it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields

import numpy as np

from tussock.poses import Trajectory
from tussock.scene.scene import Scene

__all__ = ["fingerprint", "path_fingerprint"]


def fingerprint(scene: Scene) -> str:
    """Over names, labels, tags, shapes, materials, responses, volumes, placements and motion."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([scene.name, scene.labels], sort_keys=True).encode())
    seen: dict[int, int] = {}
    for thing in scene.objects:
        digest.update(json.dumps([thing.name, thing.label, sorted(thing.tags)]).encode())
        mesh = thing.mesh
        first = seen.setdefault(id(mesh), thing.id)
        digest.update(first.to_bytes(4, "little"))
        if first == thing.id:
            for array in (mesh.vertices, mesh.triangles, mesh.material_of_triangles):
                digest.update(str(array.shape).encode())
                digest.update(np.ascontiguousarray(array).data)
            for material in mesh.materials:
                digest.update(material.model_dump_json().encode())
        for mesh in () if thing.forms is None else thing.forms.meshes[1:]:
            digest.update(mesh.vertices.data)
            digest.update(mesh.triangles.data)
        if thing.forms is not None:
            digest.update(thing.forms.times.data)
        digest.update(np.ascontiguousarray(thing.placements.matrices).data)
        if thing.motion is not None:
            digest.update(path_fingerprint(thing.motion).encode())
        if thing.response is not None:
            digest.update(thing.response.model_dump_json().encode())
    for placed in scene.volumes:
        volumes = placed.volumes
        about = [
            placed.id,
            placed.name,
            placed.label,
            sorted(placed.tags),
            volumes.partition,
            volumes.cell,
            volumes.tau,
        ]
        digest.update(json.dumps(about).encode())
        digest.update(volumes.material.model_dump_json().encode())
        for array in (getattr(volumes, field.name) for field in fields(volumes)):
            if isinstance(array, np.ndarray):
                digest.update(np.ascontiguousarray(array).data)
        digest.update(np.ascontiguousarray(placed.placements.matrices).data)
    return digest.hexdigest()


def path_fingerprint(path: Trajectory) -> str:
    """Over the times and poses of a trajectory."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (path.times, path.positions, path.quaternions):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
