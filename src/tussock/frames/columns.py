"""The columns of a frame: one row per return, truth beside measurement.

This table is the one place that says which columns exist; arrays, files and documentation follow it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLUMNS", "Column"]


class Column(NamedTuple):
    name: str
    dtype: str
    width: int
    """1, or 3 for a vector (written as three scalar fields where a format has no vectors)"""
    unit: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column("time", "f8", 1, "s", "when the pulse was fired"),
    Column("pulse", "u4", 1, "", "index of the pulse in its frame, in firing order"),
    Column("laser", "u2", 1, "", "which laser fired, in the sensor's own numbering"),
    Column("azimuth", "f4", 1, "rad", "nominal direction, counter-clockwise from x, sensor frame"),
    Column("elevation", "f4", 1, "rad", "nominal direction, up from the x-y plane, sensor frame"),
    Column("true_range", "f4", 1, "m", "range of the return without noise; NaN for one that nothing made"),
    Column("range", "f4", 1, "m", "range as measured: bias, noise and quantisation included"),
    Column(
        "true_xyz",
        "f4",
        3,
        "m",
        "where the axis of the pulse really was at the true range, sensor frame at its own time",
    ),
    Column("xyz", "f4", 3, "m", "point at the measured range, sensor frame at the pulse's own time"),
    Column(
        "intensity", "f4", 1, "", "relative intensity as measured, 1 = a white wall that fills the beam, met head-on"
    ),
    Column("object_id", "u4", 1, "", "id of the object hit, 0 where there was none"),
    Column("placement", "u4", 1, "", "which copy of the object's shape was hit"),
    Column("label", "u2", 1, "", "class label of what was hit"),
    Column("material", "u2", 1, "", "index into the frame's list of materials"),
    Column("return_number", "u1", 1, "", "1 for the pulse's first reported return; 0 where it had none"),
    Column("return_count", "u1", 1, "", "how many returns the pulse reported"),
    Column("return_kind", "u1", 1, "", "which return this is: see ReturnKind"),
    Column(
        "signal", "f4", 1, "", "signal over noise; over a white wall's at 1 m where no sensitivity is set; NaN: hits"
    ),
    Column("true_speed", "f4", 1, "m/s", "radial speed of what was met, away from the sensor; NaN where nothing was"),
    Column("speed", "f4", 1, "m/s", "radial speed as measured; NaN where the sensor measures none"),
    Column(
        "near_infrared",
        "f4",
        1,
        "",
        "sunlight along the pulse's axis, 1 = a white wall that faces the sun; NaN where the sensor measures none",
    ),
)
