"""The messages of ROS 2 as DDS types: names, fields and their order are those of the .msg files.

Clouds and images are serialised here: the library would take their bytes one by one.

No ``from __future__ import annotations`` in this module: the library reads the types.
"""

import struct
from dataclasses import dataclass
from typing import Any

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, sequence, uint8, uint32

__all__ = [
    "Clock",
    "Header",
    "Image",
    "Imu",
    "PointCloud2",
    "PointField",
    "Quaternion",
    "TFMessage",
    "Time",
    "Transform",
    "TransformStamped",
    "Vector3",
]


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
class PointField(IdlStruct, typename="sensor_msgs::msg::dds_::PointField_"):
    name: str
    offset: uint32
    datatype: uint8
    count: uint32


@dataclass
class PointCloud2(IdlStruct, typename="sensor_msgs::msg::dds_::PointCloud2_"):
    header: Header
    height: uint32
    width: uint32
    fields: sequence[PointField]
    is_bigendian: bool
    point_step: uint32
    row_step: uint32
    data: sequence[uint8]
    is_dense: bool

    def serialize(self, buffer: Any = None, endianness: Any = None, use_version_2: Any = None) -> bytes:
        """As CDR, little-endian."""
        out = _Cdr(self.header)
        out.numbers(self.height, self.width, len(self.fields))
        for field in self.fields:
            out.text(field.name)
            out.numbers(field.offset)
            out.bytes(bytes([field.datatype]))
            out.numbers(field.count)
        out.bytes(bytes([self.is_bigendian]))
        out.numbers(self.point_step, self.row_step, len(self.data))
        out.bytes(self.data)
        out.bytes(bytes([self.is_dense]))
        return out.whole()


@dataclass
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class Image(IdlStruct, typename="sensor_msgs::msg::dds_::Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]

    def serialize(self, buffer: Any = None, endianness: Any = None, use_version_2: Any = None) -> bytes:
        """As CDR, little-endian."""
        out = _Cdr(self.header)
        out.numbers(self.height, self.width)
        out.text(self.encoding)
        out.bytes(bytes([self.is_bigendian]))
        out.numbers(self.step, len(self.data))
        out.bytes(self.data)
        return out.whole()


class _Cdr:
    """A message in the making; numbers of four bytes stand at multiples of four."""

    def __init__(self, header: Header) -> None:
        self._parts: list[Any] = []
        self._size = 0
        self.numbers(header.stamp.sec, header.stamp.nanosec)
        self.text(header.frame_id)

    def bytes(self, data: Any) -> None:
        self._parts.append(data)
        self._size += len(data)

    def numbers(self, *values: int) -> None:
        self.bytes(bytes(-self._size % 4))
        self.bytes(struct.pack(f"<{len(values)}I", *values))

    def text(self, value: str) -> None:
        raw = value.encode() + b"\0"
        self.numbers(len(raw))
        self.bytes(raw)

    def whole(self) -> Any:
        return b"\0\1\0\0" + b"".join(self._parts)
