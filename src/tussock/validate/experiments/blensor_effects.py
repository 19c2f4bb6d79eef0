"""What BlenSor's sensors get wrong on purpose: folding, dark things, mirrors, noise (section 3, fig. 2).

Each effect has a small scene with an answer on paper. A wall beyond half the camera's range appears nearer by half
the range (fig. 2a). A dark wall that runs away from the sensor is seen to where its reflectivity falls
below the limit (fig. 2b). A box seen in a mirror stands behind the mirror (fig. 2c). Ranges of a laser spread with
σ = 1 cm about a bias of its own.
"""

from __future__ import annotations

import numpy as np

from tussock.frames.frame import Frame
from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Trial
from tussock.validate.paper_receiver import PAPER_RECEIVER

__all__ = ["EXPERIMENT"]

DARK = 0.12
DARK_ENDS_AT = 50.0 + (DARK - 0.10) / 0.01
"""[m]: eq (1), corrected, asks for 10 % at 50 m and 1 % more a metre"""
MIRROR = np.array([12.0, 0.0, 1.5])
NORMAL = np.array([-1.0, 1.0, 0.0]) / np.sqrt(2)
"""turned by 45°: what stands to the left of the mirror appears straight behind it"""
BOX, BOX_SIZE = np.array([12.0, 8.0, 1.5]), np.array([2.0, 2.0, 1.6])


def _run(trial: Trial) -> Outcome:
    fold, limit, mirror, noise = _folding(trial), _dark_wall(trial), _mirror(trial), _noise(trial)
    criteria = (*fold[1], *limit[1], *mirror[1], *noise)
    return Outcome(criteria, (), (_figure(fold[0], limit[0], mirror[0]),), _NOTES)


def _folding(trial: Trial) -> tuple[Frame, list[Criterion]]:
    """A post at 6 m and a wall at 14 m before the camera with its range of 20 m."""
    scene = Scene()
    scene.add(box((0.2, 12.0, 8.0), material=SURFACES["concrete"]), name="wall", position=(14.1, 0, 0))
    scene.add(box((0.4, 0.8, 6.0), material=SURFACES["bark"]), name="post", position=(6.2, 1.0, 0))
    camera = load_sensor("tof-camera").with_(**PAPER_RECEIVER, **{"receiver.backfolding": trial.has("backfolding")})
    frame = scan(scene, camera, seed=trial.seed)
    far = frame.true_range >= 10.0 + 0.02
    off = np.abs(frame.range[far] - (frame.true_range[far] - 10.0))
    return frame, [
        Criterion(
            "folded ranges within 5 σ of eq (3)",
            100 * float((off < 0.02).mean()),
            "%",
            least=99.99,
            paper="beyond 10 m: nearer by 10 m",
        ),
    ]


def _dark_wall(trial: Trial) -> tuple[Frame, list[Criterion]]:
    """A wall of 12 % reflectivity along the view, from 40 to 60 m, beside a bright one of 50 %."""
    scene = Scene()
    for name, y, reflectance in (("dark wall", 3.0, DARK), ("bright wall", -3.0, 0.5)):
        paint = Material(name=name, reflectance=reflectance)
        scene.add(box((20.0, 0.2, 6.0), material=paint), name=name, position=(50.0, y, 0.0))
    limit = {"near_m": 50.0, "near_reflectivity": 0.1, "far_m": 120.0, "far_reflectivity": 0.8}
    sensor = load_sensor("hdl-64e-s2").with_(
        **PAPER_RECEIVER
        | {
            "receiver.detection_limit": limit if trial.has("limit") else None,
            "noise.bias_sigma_m": 0.0,
            "rotation_hz": 5.0,
        }
    )
    frame = scan(scene, sensor, seed=trial.seed)
    dark = frame.true_range[frame.object_id == 1]
    bright = frame.true_range[frame.object_id == 2]
    return frame, [
        Criterion(
            "a dark wall is seen to",
            float(dark.max(initial=0)),
            "m",
            least=DARK_ENDS_AT - 1.0,
            most=DARK_ENDS_AT,
            paper=f"{DARK_ENDS_AT:.0f} m for 12 %, by eq (1)",
        ),
        Criterion("a bright wall beside it is seen to", float(bright.max(initial=0)), "m", least=59.0),
    ]


def mirrored(points: np.ndarray) -> np.ndarray:
    """Points on the other side of the mirror's plane."""
    return points - 2 * ((points - MIRROR) @ NORMAL)[:, None] * NORMAL


def _mirror(trial: Trial) -> tuple[Frame, list[Criterion]]:
    """A mirror 12 m ahead, turned by 45°, and a box 8 m to its left."""
    glass = Material(name="mirror", reflectance=0.0, mirror=1.0) if trial.has("mirror") else SURFACES["concrete"]
    scene = Scene()
    scene.add(plane((60, 60), material=SURFACES["soil"]), name="ground", position=(0, 0, 0))
    scene.add(box((0.05, 4.0, 3.0), material=glass), name="mirror", position=MIRROR + 0.025 * -NORMAL, yaw=-np.pi / 4)
    scene.add(box(BOX_SIZE, material=SURFACES["bark"]), name="box", position=BOX)
    sensor = load_sensor("hdl-64e-s2").with_(
        **PAPER_RECEIVER
        | {"noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0, "receiver.range_step_m": 0.0, "rotation_hz": 5.0}
    )
    frame = scan(scene, sensor, Pose.at(0, 0, 2.0), seed=trial.seed)
    points = frame.world_xyz()
    on_box = frame.object_id == 3
    # Seen directly, the box is 8 m to the left; in the mirror it is behind x = 12 m.
    virtual = on_box & (points[:, 0] > 13.5) & (np.abs(points[:, 1]) < 3)
    back = np.abs(mirrored(points[virtual]) - BOX) - BOX_SIZE / 2
    off = np.abs(back.max(1))  # on the surface of a box the largest of the three is 0
    true = float((off < 2e-3).mean()) if virtual.any() else 0.0
    return frame, [
        Criterion("points of the virtual box", float(virtual.sum()), least=100, paper="“a virtual object behind”"),
        Criterion("of them on the box, mirrored back, within 2 mm", 100 * true, "%", least=99.9),
        Criterion("returns from the mirror itself", float((frame.object_id == 2).sum()), most=0, paper="none"),
    ]


def _noise(trial: Trial) -> list[Criterion]:
    """A wall all around: σ of each measurement, and the bias of each laser in two turns."""
    scene = Scene()
    scene.add(box((40, 40, 40), material=SURFACES["concrete"]), name="room")
    sensor = load_sensor("hdl-64e-s2").with_(**PAPER_RECEIVER, **{"receiver.range_step_m": 0.0, "rotation_hz": 15.0})
    if not trial.has("noise"):
        sensor = sensor.with_(**{"noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0})
    turns = [scan(scene, sensor, seed=trial.seed, frame=k) for k in (0, 1)]
    means, spreads = [], []
    for frame in turns:
        off = frame.range.astype(float) - frame.true_range
        count = np.bincount(frame.laser, minlength=64)
        mean = np.bincount(frame.laser, off, 64) / count
        means.append(mean)
        spreads.append(np.sqrt(np.mean((off - mean[frame.laser]) ** 2)))
    return [
        Criterion(
            "σ of a measurement", 100 * float(np.mean(spreads)), "cm", least=0.98, most=1.02, paper="1 cm (default)"
        ),
        Criterion(
            "σ of the bias over 64 lasers",
            100 * float(means[0].std()),
            "cm",
            least=5.5,
            most=10.0,
            paper="7.8 cm (default)",
        ),
        Criterion(
            "bias of a laser, one turn to the next, worst",
            100 * float(np.abs(means[1] - means[0]).max()),
            "cm",
            most=0.25,
            paper="“remains the same”",
        ),
    ]


def _figure(fold: Frame, limit: Frame, mirror: Frame) -> Figure:
    with plotting(1, 3, size=(12.6, 4.0)) as picture:
        left, middle, right = picture.axes[0]
        for name, values, color, size in (("true", fold.true_xyz, GREY, 1.0), ("as measured", fold.xyz, ORANGE, 1.0)):
            left.scatter(-values[:, 1], values[:, 0], s=size, color=color, lw=0, label=name)
        left.set(title="folding (2a), from above", xlabel="to the right [m]", ylabel="ahead [m]", ylim=(0, 15))
        left.legend(markerscale=6)
        for number, color, name in ((1, BLUE, "12 %"), (2, ORANGE, "50 %")):
            mine = limit.object_id == number
            middle.scatter(limit.xyz[mine, 0], limit.xyz[mine, 2], s=3, color=color, lw=0, label=f"wall of {name}")
        middle.axvline(DARK_ENDS_AT, color=GREY, ls="--", lw=1, label="limit for 12 %, eq (1)")
        middle.set(title="a dark wall (2b), from the side", xlabel="ahead [m]", ylabel="up [m]", xlim=(39, 61))
        middle.legend(markerscale=3, loc="lower left")
        points = mirror.world_xyz()
        shown = points[:, 2] > 0.1
        is_box = mirror.object_id == 3
        right.scatter(-points[shown & ~is_box, 1], points[shown & ~is_box, 0], s=2, color=GREY, lw=0)
        right.scatter(
            -points[is_box, 1], points[is_box, 0], s=2, color=ORANGE, lw=0, label="box, direct and in the mirror"
        )
        edge = MIRROR + np.outer([-2, 2], [NORMAL[1], -NORMAL[0], 0])
        right.plot(-edge[:, 1], edge[:, 0], color=BLUE, lw=2.5, label="mirror")
        right.set(
            title="a mirror (2c), from above",
            xlabel="to the right [m]",
            ylabel="ahead [m]",
            xlim=(-12, 6),
            ylim=(0, 23),
        )
        right.legend(loc="lower left", markerscale=3)
    return Figure(
        "Three effects, as fig. 2 of the paper",
        picture.png,
        "Left: the wall at 14 m appears at 4 m, before the post. Middle: the dark wall ends at 52 m, the bright one "
        "does "
        "not. Right: the box to the left appears once more behind the mirror.",
    )


_NOTES = (
    "Eq (1) is taken with (dist − d_lower), as the paper's own text demands: as printed it would ask for 60 % at 50 m.",
    "The paper calls σ a variance and reports up to 12 cm between two lasers of its real sensor. Its released "
    "default of "
    "7.8 cm makes the two most different of 64 lasers some 35 cm apart; the default is kept here.",
)

EXPERIMENT = Experiment(
    name="blensor-effects",
    title="Folding, dark walls, mirrors and noise",
    paper="Gschwandtner et al. 2011 (BlenSor), sections 3.2 to 3.5, fig. 2, eqs (1) to (3)",
    setup=(
        "A wall at 14 m before a time-of-flight camera of 20 m; a wall of 12 % reflectivity that runs from 40 to 60 "
        "m; a box "
        "seen in a mirror turned by 45°; a room around a Velodyne. Each has an answer on paper."
    ),
    run=_run,
    effects={
        "backfolding": "no folding: the camera knows every distance",
        "limit": "no detection limit: however dark, it is seen",
        "mirror": "a wall of concrete instead of the mirror",
        "noise": "neither noise nor bias",
    },
)
