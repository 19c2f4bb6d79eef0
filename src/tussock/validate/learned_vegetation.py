"""Vegetation learned from scans: six targets, volumes against a surface (Deschaud et al. 2012, section VI, fig. 6).

A target stands 8 m from an HDL-64E: two planes, trees from dense to sparse, tall and short grass, grown by our
generators. Each direction of a grid of 0.09° is fired many times, with the beam's spread and pointing jitter. A
fifth of the pulses teaches a model of Gaussian volumes with permeability (voxels of 5 cm) and a surface (RIMLS and
marching cubes); both fire the rest again. The score is the Bhattacharyya distance of the histograms over angle and
range (2 mm), pulses without return included; its floor is the score of the learning pulses themselves.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.learn.beams import Beams, beams_of
from tussock.learn.learner import learn
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scores import compare
from tussock.learn.surface import scan_surface, surface_mesh
from tussock.poses import Pose
from tussock.scene.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scene.tree import tree
from tussock.sensors.beam import Beam
from tussock.sensors.noise import Noise
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.drawing import drawing
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Run, Table

__all__ = ["EXPERIMENT"]

VOXEL, SHARE, SAMPLES = 0.05, 5, 1500


class Target(NamedTuple):
    surface: float
    """the paper's score of the surface model"""
    volumes: float
    """the paper's score of the volumes"""
    low_deg: float
    """elevation of the lowest laser [deg]"""


TARGETS = {
    "planes": Target(0.019, 0.068, -3.0),
    "dense tree": Target(0.111, 0.074, 4.0),
    "medium tree": Target(0.896, 0.125, 4.0),
    "sparse tree": Target(0.622, 0.054, 4.0),
    "tall grass": Target(0.888, 0.095, -9.2),
    "short grass": Target(1.229, 0.091, -11.2),
}


def scene_of(name: str, seed: int) -> Scene:
    """A target 8 m ahead of a sensor at (0, 0, 1.5)."""
    scene = Scene(name)
    if name == "planes":
        scene.add(box((0.1, 2.0, 4.0), material=SURFACES["concrete"]), position=(8.05, 1.0, 1.5))
        scene.add(box((0.1, 4.0, 4.0), material=SURFACES["concrete"]), position=(8.55, -1.0, 1.5))
    elif name.endswith("tree"):
        leaves = {"dense tree": 8.0, "medium tree": 2.5, "sparse tree": 1.0}[name]
        shape = tree(height=4.0, crown_radius=1.2, leaf_area=leaves * np.pi * 1.2**2, triangles=60_000, seed=seed)
        scene.add(shape, position=(8.0, 0, 0))
    else:
        tall = name == "tall grass"
        tile = grass_tile(blades=500, height=0.7 if tall else 0.15, width=0.006, seed=seed)
        x, y = (v.ravel() for v in np.meshgrid(np.arange(7.5, 13), np.arange(-2, 3), indexing="ij"))
        scene.add(plane((40, 40), material=SURFACES["soil"]), name="ground")
        scene.add(
            tile,
            name="grass",
            placements=Placements.of(np.stack([x, y, 0 * x], 1), yaw=np.pi / 2 * (np.arange(len(x)) % 4)),
        )
    return scene


def sensor_of(
    low_deg: float, columns: int, rows: int, *, step_deg: float = 0.09, rise_deg: float = 0.42, samples: int = SAMPLES
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
        receiver=Receiver(max_range_m=20.0, range_step_m=0.002),
        noise=Noise(ray_sigma_m=0.005, pointing_sigma_mrad=0.5),
    )


def fired(name: str, run: Run) -> tuple[Beams, Beams]:
    """Pulses to learn from and pulses to test with; a quick run looks in fewer directions."""
    columns, rows = (20, 4) if run.quick else (30, 6)
    sensor = sensor_of(TARGETS[name].low_deg, columns, rows)
    frame = scan(World(scene_of(name, run.seed)), sensor, Pose.at(0, 0, 1.5), seed=run.seed, keep_misses=True)
    beams = beams_of(frame)
    sample = np.arange(len(beams)) // columns % SAMPLES  # all columns, again and again, laser after laser
    return beams.select(sample % SHARE == 0), beams.select(sample % SHARE != 0)


def _run(run: Run) -> Outcome:
    with_surface = find_spec("pymeshlab") is not None
    rows, shown = [], {}
    for name, paper in TARGETS.items():
        run.doing(name)
        train, test = fired(name, run)
        volumes = learn(train, voxel=VOXEL)
        again = simulate_volumes(volumes, test, seed=run.seed)
        mesh = scan_surface(surface_mesh(train), test, seed=run.seed) if with_surface else None
        if not run.has("volumes") and mesh is not None:
            again = mesh
        score = compare(test, again)
        floor = compare(test, train).distance
        surface = compare(test, mesh).distance if mesh is not None else float("nan")
        rows.append(
            (
                name,
                surface,
                paper.surface,
                score.distance,
                paper.volumes,
                floor,
                100 * score.hit_rate_difference,
                len(volumes.means),
            )
        )
        shown[name] = (test, again)
    ours = {row[0]: row[3] for row in rows}
    criteria = [
        Criterion(
            "score of volumes at 5 cm over 0.15 or the target's floor, worst vegetation target",
            max(row[3] / max(0.15, row[5]) for row in rows if row[0] != "planes"),
            most=1.0,
            paper="0.054 to 0.125",
        ),
        Criterion("score of volumes, planes", ours["planes"], most=0.10, paper="0.068"),
    ]
    notes = [
        "The targets are ours, as the paper's trees and grass are not available; the scores stand side by side, not "
        "target by "
        "target. Each direction is sampled by nine random rays with the strongest return, and 0.5 mrad of pointing "
        "jitter.",
    ]
    if with_surface:
        better = sum(row[3] < row[1] for row in rows if row[0] != "planes")
        criteria.append(
            Criterion("vegetation targets on which volumes beat the surface", float(better), least=5, most=5, paper="5")
        )
    else:
        notes.append("The surface model was left out: PyMeshLab is not installed (pip install 'tussock[surface]').")
    run.doing("sweeps")
    table = Table(
        "Bhattacharyya distance",
        (
            "target",
            "surface",
            "surface, paper",
            "volumes, 5 cm",
            "volumes, paper",
            "floor",
            "hit rate off [%]",
            "volumes learned",
        ),
        tuple(rows),
        "0 is a perfect match; no model can be expected below the floor, the score of the learning pulses themselves.",
    )
    return Outcome(tuple(criteria), (table, *_sweeps(run)), (_figure(shown),), tuple(notes))


def _sweeps(run: Run) -> tuple[Table, ...]:
    """Voxel size and τ on one target, and the same volumes before another sensor."""
    train, test = fired("medium tree", run)
    sizes = []
    for voxel in (0.02, 0.05, 0.10, 0.20, 0.30):
        volumes = learn(train, voxel=voxel)
        score = compare(test, simulate_volumes(volumes, test, seed=run.seed))
        sizes.append((voxel, len(volumes.means), score.distance, 100 * score.hit_rate_difference))
    reach = []
    for tau in (1.0, 1.5, 2.0, 3.0):
        score = compare(test, simulate_volumes(learn(train, voxel=VOXEL, tau=tau, plain=True), test, seed=run.seed))
        reach.append((tau, score.distance, 100 * score.hit_rate_difference))
    return (
        Table("Voxel size, medium tree", ("voxel [m]", "volumes", "score", "hit rate off [%]"), tuple(sizes)),
        Table(
            "τ, medium tree, one permeability a volume as in the paper",
            ("τ", "score", "hit rate off [%]"),
            tuple(reach),
        ),
        _transfer(run),
    )


def _transfer(run: Run) -> Table:
    """Learned with one sensor at one place, scanned by another from elsewhere, against the mesh itself."""
    rows = []
    for name in ("dense tree", "medium tree", "sparse tree"):
        # Lasers of one turn lie 6 cm apart at 8 m: what is between them is learned by tilting the sensor a little.
        world, low = World(scene_of(name, run.seed)), TARGETS[name].low_deg
        dense = sensor_of(low, 30, 16, rise_deg=0.1, samples=100)
        train = beams_of(scan(world, dense, Pose.at(0, 0, 1.5), seed=run.seed, keep_misses=True))
        other = sensor_of(low + 0.5, 5, 3, step_deg=0.15, rise_deg=0.25, samples=300)
        pose = Pose.at(0.3, 0.1, 1.5, yaw=-0.1 / 7.7)
        truth = beams_of(scan(world, other, pose, seed=run.seed + 1, keep_misses=True))
        score = compare(truth, simulate_volumes(learn(train, voxel=VOXEL), truth, seed=run.seed), range_bin=0.02)
        quantiles = score.quantile_differences
        rows.append((name, score.distance, 100 * score.real_hit_rate, 100 * score.simulated_hit_rate, quantiles[2]))
    return Table(
        "Another sensor, nearer and to the side (0.15° apart, bins of 2 cm)",
        ("target", "score", "hit rate, mesh [%]", "hit rate, volumes [%]", "median range off [m]"),
        tuple(rows),
        "The mesh that the volumes were learned from is the truth; the paper left this transfer to future work.",
    )


def _figure(shown: dict[str, tuple[Beams, Beams]]) -> Figure:
    with drawing(2, 6, size=(13.4, 5.0), sharex=True) as picture:
        for column, (name, pair) in enumerate(shown.items()):
            ring = np.bincount(pair[0].rings[pair[0].hit]).argmax() if pair[0].hit.any() else 0
            found = pair[0].ranges[pair[0].hit]
            span = (np.quantile(found, 0.002) - 0.1, np.quantile(found, 0.998) + 0.1) if len(found) else (7.0, 9.0)
            for row, (beams, what) in enumerate(zip(pair, ("real", "volumes"), strict=True)):
                axes, mine = picture.axes[row, column], beams.hit & (beams.rings == ring)
                half = np.rad2deg(np.abs(beams.azimuths).max()) + 0.045
                counts = _histogram(beams, mine, span, half)
                axes.imshow(
                    np.log1p(counts.T), origin="lower", aspect="auto", cmap="magma_r", extent=(-half, half, *span)
                )
                axes.set_title(f"{name}, {what}", fontsize=8)
                axes.grid(False)
        for axes in picture.axes[-1]:
            axes.set_xlabel("azimuth [°]")
        for axes in picture.axes[:, 0]:
            axes.set_ylabel("range [m]")
    return Figure(
        "Histograms over angle and range of one laser, as fig. 6 of the paper",
        picture.png,
        "Above the test pulses, below the same pulses fired into the learned volumes; darker is more often.",
    )


def _histogram(beams: Beams, mine: NDArray[np.bool_], span: tuple[float, float], half: float) -> NDArray[np.float64]:
    edges = [np.linspace(-half, half, round(half / 0.045)), np.linspace(*span, 90)]
    return np.histogram2d(np.rad2deg(beams.azimuths[mine]), beams.ranges[mine], edges)[0]


EXPERIMENT = Experiment(
    name="learned-vegetation",
    title="Vegetation learned from scans",
    paper="Deschaud et al. 2012, section VI, fig. 6",
    setup=(
        "Six targets 8 m from an HDL-64E, 1,500 pulses in each of 180 directions (80 in a quick run), a fifth of "
        "them to learn from. Volumes of "
        "5 cm and a surface model fire the other pulses again; histograms over angle and range are compared. Sweeps "
        "over voxel "
        "size and τ, and the same volumes before another sensor elsewhere."
    ),
    run=_run,
    effects={"volumes": "the surface model instead of the volumes"},
)
