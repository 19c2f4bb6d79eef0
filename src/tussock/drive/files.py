"""What a drive leaves behind beside its log: metrics, the settings that it was made with, and the truth as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tussock.drive.loop import DriveResult
from tussock.drive.vehicles.motion import COLUMNS
from tussock.sensors.sensor import Sensor
from tussock.version import VERSION
from tussock.whole_files import whole_file

__all__ = ["save_metrics", "save_truth"]


def save_metrics(
    result: DriveResult, path: Path, *, scene: str, sensor: Sensor, seed: int, force: bool = False
) -> None:
    """The metrics with all that they hang on, as JSON; two runs with one seed give the same bytes."""
    x, y, _, yaw = (float(v) for v in result.truth[0, :4])
    document: dict[str, Any] = {
        "tussock": VERSION,
        "scene": scene,
        "seed": seed,
        "start": {"x": x, "y": y, "yaw_deg": float(np.rad2deg(yaw))},
        "goals": result.goals,
        "metrics": result.metrics.as_json(),
        "settings": result.settings.model_dump(mode="json"),
        "sensor": sensor.told(),
    }
    with whole_file(path, force=force) as part:
        part.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def save_truth(result: DriveResult, path: Path, *, force: bool = False) -> None:
    """The truth of the vehicle a hundred times a second, as CSV; angles in degrees."""
    angles = [name in ("yaw", "pitch", "roll", "turn_rate", "steer") for name in COLUMNS]
    rows = np.where(angles, np.rad2deg(result.truth), result.truth)
    units = {"x": "m", "y": "m", "z": "m", "speed": "m_s", "wheel_speed": "m_s", "turn_rate": "deg_s"}
    names = [
        f"{name}_{units[name]}" if name in units
        else f"{name}_deg" if turned
        else f"{name}_n" if name.endswith("_force")
        else name
        for name, turned in zip(COLUMNS, angles, strict=True)
    ]  # fmt: skip
    # Places of a national grid have seven digits before the point; millimetres need three behind it.
    forms = ["%.10g" if name in ("time_s", "x_m", "y_m", "z_m") else "%.6g" for name in ("time_s", *names)]
    with whole_file(path, force=force) as part:
        np.savetxt(
            part, np.column_stack([result.times, rows]), fmt=forms, delimiter=",", comments="",
            header=",".join(["time_s", *names]),
        )  # fmt: skip
