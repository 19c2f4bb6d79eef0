"""LAS and LAZ 1.4, the formats of airborne and terrestrial laser scanning, through laspy (extra ``las``).

Point format 6: coordinates in steps of 0.1 mm, time as GPS time, return number and count, and the classes of the
ASPRS (ground, vegetation, building, …) in place of our labels. Intensity is 16 bits with 65535 for relative
intensity 1, so brighter returns are cut off. Every field that LAS has no place for, and the exact intensity and
label, are extra dimensions; the document is an extended record (user ``tussock``, number 1). Read back, coordinates
are as coarse as the file's.

A frame with waveforms is point format 9, with its samples in a file of packets beside (`tussock.files.wave_packets`).
Each point then has the height and the full width [ns] of the Gaussian nearest to it as extra dimensions, ``amplitude``
and ``echo_width``, NaN where there is none.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, cause
from tussock.extras import load_extra
from tussock.files import wave_packets
from tussock.files.contents import FIELD_TYPES, Contents
from tussock.files.file_format import Beside, Format, has_waveforms
from tussock.files.las_checks import check_before_reading
from tussock.tried_apart import try_apart

__all__ = ["LAS", "LAZ", "asprs_classes", "labels_of_classes"]

STEP_M = 1e-4
USER, RECORD = "tussock", 1
_OWN_PLACE = {"time": "gps_time", "return_number": "return_number", "return_count": "number_of_returns"}
_EXTRA_NAMES = {"intensity": "relative_intensity", "label": "tussock_label"}

_NO_DAY = date(1970, 1, 1)  # laspy writes the day on which it is asked where it is given none

_ASPRS = {
    2: (49, 72),  # ground: other-ground, terrain
    3: (100, 105),  # low vegetation: grass, root
    4: (103, 104),  # medium vegetation: stem, shrub
    5: (70, 71, 101, 102, 118),  # high vegetation: vegetation, trunk, leaf, branch, tree
    6: (50, 52, 111),  # building: building, other-structure, wall
    7: (1,),  # noise: outlier
    9: (112,),  # water
    11: (40, 44, 48, 60),  # road surface: road, parking, sidewalk, lane-marking
}
"""Classes of LAS 1.4 and the labels that belong to them; everything else is 1, unclassified."""


def asprs_classes(labels: NDArray[Any]) -> NDArray[np.uint8]:
    """Classes of labels, shape (n,)."""
    table = np.ones(65536, np.uint8)
    for number, ours in _ASPRS.items():
        table[list(ours)] = number
    return table[labels.astype(np.int64)]


_NEAREST = {2: 72, 3: 100, 4: 104, 5: 70, 6: 50, 7: 1, 9: 112, 11: 40, 17: 52, 18: 1}
"""our label that is nearest to a class: terrain, grass, shrub, vegetation, building, outlier (low and high noise), water,
road, and other-structure for bridges"""


def labels_of_classes(classes: NDArray[Any]) -> NDArray[np.uint16]:
    """Labels of classes, shape (n,); 0 for classes that say nothing of ours."""
    table = np.zeros(256, np.uint16)
    table[list(_NEAREST)] = list(_NEAREST.values())
    return table[classes.astype(np.int64) & 255]


def save(contents: Contents, path: Path, *, compressed: bool = False) -> None:
    laspy = load_extra("laspy", extra="las", purpose="a LAS file")
    fields = contents.fields
    points = np.stack([fields[axis].astype(np.float64) for axis in "xyz"], 1)
    if not np.isfinite(points).all():
        raise InputError("LAS holds no pulses without return; leave out --misses")
    waveforms = contents.waveforms
    header = laspy.LasHeader(point_format=6 if waveforms is None else 9, version="1.4")
    header.generating_software = "tussock"
    header.global_encoding.wkt = True  # point formats from 6 on need it (LAS 1.4, section 2.4), with or without a CRS
    header.creation_date = _NO_DAY  # the same frame gives the same bytes on any day
    header.scales = np.full(3, STEP_M)
    header.offsets = np.floor(points.min(axis=0)) if len(points) else np.zeros(3)
    if len(points) and np.ptp(points, axis=0).max() > STEP_M * 2**31:
        raise InputError.of(
            "LAS", f"points must lie within {STEP_M * 2**31:.0f} m", f"{np.ptp(points, axis=0).max():.0f} m"
        )
    others = [name for name in fields if name not in ("x", "y", "z", *_OWN_PLACE)]
    header.add_extra_dims(
        [laspy.ExtraBytesParams(_EXTRA_NAMES.get(name, name), fields[name].dtype.str[1:]) for name in others]
    )
    shapes = {} if waveforms is None else wave_packets.shapes_of_echoes(contents)
    header.add_extra_dims([laspy.ExtraBytesParams(name, "f4") for name in shapes])
    if waveforms is not None:
        header.global_encoding.waveform_data_packets_external = True
        about = laspy.VLR("LASF_Spec", wave_packets.DESCRIPTOR, "waveforms", wave_packets.descriptor(waveforms))
        header.vlrs.append(laspy.vlrs.known.vlr_factory(about))
    cloud = laspy.LasData(header)
    cloud.points = laspy.ScaleAwarePointRecord.zeros(len(points), header=header)
    cloud.x, cloud.y, cloud.z = points.T
    relative = np.clip(np.nan_to_num(fields["intensity"], nan=0.0), 0, 1)
    cloud.intensity = (relative * 65535 + 0.5).astype(np.uint16)
    cloud.gps_time = fields["time"]
    # LAS counts to 15.
    cloud.return_number = np.clip(fields["return_number"], 1, 15)
    cloud.number_of_returns = np.clip(fields["return_count"], 1, 15)
    cloud.classification = asprs_classes(fields["label"])
    for name in others:
        cloud[_EXTRA_NAMES.get(name, name)] = fields[name]
    for name, values in shapes.items():
        cloud[name] = values
    if waveforms is not None:
        wave_packets.add_to_points(cloud, contents)
    text = (contents.document or "").encode()
    cloud.evlrs = laspy.vlrs.vlrlist.VLRList([laspy.VLR(USER, RECORD, "frame of tussock", text)])
    with path.open("wb") as file:
        cloud.write(file, do_compress=compressed)


def save_compressed(contents: Contents, path: Path) -> None:
    save(contents, path, compressed=True)


_TRIAL = "import sys, laspy; laspy.read(sys.argv[1])"


def load(path: Path) -> Contents:
    laspy = load_extra("laspy", extra="las", purpose="a LAS file")
    with path.open("rb") as file:
        try:
            if check_before_reading(file, path.stat().st_size):
                try_apart(_TRIAL, path, "lazrs")
            file.seek(0)
            cloud = laspy.read(file)
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # the decompressor's own, which is no Exception
                raise InputError(f"cannot be decompressed ({cause(error)}); it is damaged") from None
            raise
    if len(cloud.points) != cloud.header.point_count:
        raise InputError(f"ends after {len(cloud.points)} of {cloud.header.point_count} points; the file was cut")
    document = None
    for record in [*(cloud.evlrs or []), *cloud.header.vlrs]:
        if record.user_id == USER and record.record_id == RECORD:
            document = bytes(record.record_data).decode() or None
    names = set(cloud.point_format.dimension_names)
    fields: dict[str, NDArray[Any]] = {axis: np.asarray(cloud[axis], np.float64) for axis in "xyz"}
    if document is None:
        fields["intensity"] = np.asarray(cloud.intensity) / 65535.0
        if "gps_time" in names:
            fields["time"] = np.asarray(cloud.gps_time)
        classes = labels_of_classes(np.asarray(cloud.classification))
        if classes.any():
            fields["label"] = classes
        if "red" in names and any(np.any(cloud[name]) for name in ("red", "green", "blue")):
            fields |= {name: np.asarray(cloud[name]) for name in ("red", "green", "blue")}
        return Contents(fields, None)
    own = _OWN_PLACE | _EXTRA_NAMES
    for name, dtype in FIELD_TYPES.items():
        if name not in fields and own.get(name, name) in names:
            fields[name] = np.asarray(cloud[own.get(name, name)]).astype(dtype)
    about = json.loads(document).get("meta", {}).get("waveforms")
    waveforms = about and wave_packets.read_packets(cloud, path, about["pulse_fwhm_ns"], about["noise"])
    return Contents(fields, document, waveforms or None)


LAS = Format(
    ".las",
    "LAS",
    save,
    load,
    exact=False,
    waveforms=(Beside(wave_packets.beside, wave_packets.save_packets, has_waveforms),),
)
LAZ = Format(".laz", "LAZ", save_compressed, load, exact=False)
