"""The six targets of Deschaud et al. (2012), sections V and VI: grown, fired at, learned and scored.

Two planes, trees from dense to sparse, tall and short grass stand 8 m from an HDL-64E. Each direction of a grid of
0.09° is fired 1,500 times, with the beam's spread and pointing jitter; a fifth of the pulses is there to learn from,
the rest to test with. Volumes and a surface learned from that fifth fire the test pulses again.

The score is the Bhattacharyya distance of histograms over laser, angle (0.09°) and range (2 mm), pulses without return
included. It counts chance too: two samples of one and the same truth differ, the more the fewer they are and the wider
they are spread over the bins. The *floor* is that of the learning pulses against the test pulses.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses, measured_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import Score, compare
from tussock.learn.surface import scan_surface, surface_mesh
from tussock.plants.grass import grass_tile
from tussock.plants.tree import tree
from tussock.poses import Pose
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.sensors.beam import Beam
from tussock.sensors.noise import Noise
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

__all__ = ["EYE", "TARGETS", "VOXEL", "Target", "TargetScore", "fired", "score_target", "sensor_of", "target_scene"]

VOXEL = 0.05
"""[m] of the paper's static targets"""
EYE = 1.5
"""[m] height of the sensor, at x = y = 0"""
_SAMPLES, _SHARE = 1500, 5


class Target(NamedTuple):
    surface: float
    """the paper's score of the surface model"""
    volumes: float
    """the paper's score of the volumes"""
    low_deg: float
    """elevation of the lowest laser [deg], so that all look at what stands 8 m away"""

    @property
    def vegetation(self) -> bool:
        return self is not TARGETS["planes"]


TARGETS = {
    "planes": Target(0.019, 0.068, -3.0),
    "dense tree": Target(0.111, 0.074, 4.0),
    "medium tree": Target(0.896, 0.125, 4.0),
    "sparse tree": Target(0.622, 0.054, 4.0),
    "tall grass": Target(0.888, 0.095, -9.2),
    "short grass": Target(1.229, 0.091, -11.2),
}
_LEAF_LAYERS = {"dense tree": 8.0, "medium tree": 2.5, "sparse tree": 1.0}


def target_scene(name: str, seed: int) -> Scene:
    """A target 8 m ahead of the sensor."""
    scene = Scene(name)
    if name == "planes":
        scene.add(box((0.1, 2.0, 4.0), material=SURFACES["concrete"]), position=(8.05, 1.0, 1.5))
        scene.add(box((0.1, 4.0, 4.0), material=SURFACES["concrete"]), position=(8.55, -1.0, 1.5))
    elif name in _LEAF_LAYERS:
        leaves = _LEAF_LAYERS[name] * np.pi * 1.2**2
        shape = tree(height=4.0, crown_radius=1.2, leaf_area=leaves, triangles=60_000, seed=seed)
        scene.add(shape, position=(8.0, 0, 0))
    else:
        tile = grass_tile(blades=500, height=0.7 if name == "tall grass" else 0.15, width=0.006, seed=seed)
        x, y = (v.ravel() for v in np.meshgrid(np.arange(7.5, 13), np.arange(-2, 3), indexing="ij"))
        places = Placements.of(np.stack([x, y, 0 * x], 1), yaw=np.pi / 2 * (np.arange(len(x)) % 4))
        scene.add(plane((40, 40), material=SURFACES["soil"]), name="ground")
        scene.add(tile, name="grass", placements=places)
    return scene


def sensor_of(
    low_deg: float, columns: int, rows: int, *, step_deg: float = 0.09, rise_deg: float = 0.42, samples: int = _SAMPLES
) -> Sensor:
    """``samples`` pulses in each of columns × rows directions, with the beam and the 2 mm steps of an HDL-64E."""
    azimuth = (np.arange(columns) - columns // 2) * step_deg
    return Sensor(
        name="many",
        pattern=GridPattern(
            azimuth_deg=tuple(np.tile(azimuth, samples).tolist()),
            elevation_deg=tuple((low_deg + rise_deg * np.arange(rows)).tolist()),
            frame_hz=10,
        ),
        beam=Beam(
            shape="rectangle", divergence_horizontal_mrad=3.3, divergence_vertical_mrad=0.7, rays=9, sampling="random"
        ),
        receiver=Receiver(model="hits", max_range_m=20.0, range_step_m=0.002),
        noise=Noise(ray_sigma_m=0.005, pointing_sigma_mrad=0.5),
    )


def fired(name: str, *, quick: bool, seed: int) -> tuple[MeasuredPulses, MeasuredPulses]:
    """Pulses to learn from and pulses to test with, in 180 directions, or 80 of them."""
    columns, rows = (20, 4) if quick else (30, 6)
    sensor = sensor_of(TARGETS[name].low_deg, columns, rows)
    pulses = measured_pulses(
        scan(World(target_scene(name, seed)), sensor, Pose.at(0, 0, EYE), seed=seed, keep_misses=True)
    )
    sample = np.arange(len(pulses)) // columns % _SAMPLES  # all columns, again and again, laser after laser
    return pulses.select(sample % _SHARE == 0), pulses.select(sample % _SHARE != 0)


@dataclass(frozen=True)
class TargetScore:
    """How well one target was foretold."""

    target: str
    surface: Score | None
    """of the surface model; None where PyMeshLab is absent"""
    volumes: Score
    """of volumes of 5 cm"""
    plain: Score
    """of volumes of 5 cm with one permeability each, exactly as in the paper"""
    chosen_voxel: float
    """[m] that foretells held-out learning pulses best"""
    chosen: Score
    """of volumes of that size"""
    floor: float
    count: int
    """volumes of 5 cm"""

    @property
    def paper(self) -> Target:
        return TARGETS[self.target]


def score_target(name: str, train: MeasuredPulses, test: MeasuredPulses, *, seed: int) -> TargetScore:
    """Learn from ``train``, fire ``test`` again, score."""
    volumes = fit_volumes(train, voxel=VOXEL)
    voxel = choose_voxel(train, seed=seed)
    finer, plain = fit_volumes(train, voxel=voxel), fit_volumes(train, voxel=VOXEL, plain=True)
    with_surface = find_spec("pymeshlab") is not None
    return TargetScore(
        target=name,
        surface=compare(test, scan_surface(surface_mesh(train), test, seed=seed)) if with_surface else None,
        volumes=compare(test, simulate_volumes(volumes, test, seed=seed)),
        plain=compare(test, simulate_volumes(plain, test, seed=seed)),
        chosen_voxel=voxel,
        chosen=compare(test, simulate_volumes(finer, test, seed=seed)),
        floor=compare(test, train).distance,
        count=len(volumes),
    )
