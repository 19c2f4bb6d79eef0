"""Tuples that kernels hand on by address.

Numba hands a tuple to another kernel number by number, and an array is seven of them: all that a scan reads is some seven
hundred, packed and unpacked for every call of every kernel that takes it. That costs the compiler more than all that the
kernels do. ``held(tuple)`` stays where it is: a kernel gets its address and reads the fields that it names. Fields that are
tuples with arrays in them are held as well; numbers, arrays and small tuples of numbers are read.

What is held does not change as long as anything reads it, and the compiler is told so: it reads a field once, wherever
the kernel names it. So a kernel that holds a tuple hands it to an `apart_kernel`, which is not woven into it: by the time
that one begins, the tuple is written.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba has no types.

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model

from tussock.kernels import INTERPRETED

__all__ = ["held", "keep_until_here"]


class _Held(types.Type):
    """The address of a tuple of the type ``kind``."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(f"held({kind})")

    @property
    def key(self) -> Any:
        return self.kind

    def field(self, name: str) -> Any:
        kind = self.kind.types[self.kind.fields.index(name)]
        return _Held(kind) if _holds_arrays(kind) else kind


def _holds_arrays(kind: Any) -> bool:
    parts = kind.types if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)) else ()
    return any(isinstance(part, types.Array) or _holds_arrays(part) for part in parts)


@register_model(_Held)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager.lookup(kind.kind).get_value_type().as_pointer())


@infer_getattr
class _HeldAttributes(AttributeTemplate):
    key = _Held

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        return kind.field(name) if name in kind.kind.fields else None


@lower_getattr_generic(_Held)
def _read(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    place = cgutils.gep_inbounds(builder, address, 0, kind.kind.fields.index(name))
    if isinstance(kind.field(name), _Held):
        return place
    return _load(builder, place, builder.module.add_metadata([]))


def _load(builder: Any, place: Any, unchanging: Any) -> Any:
    """What is at an address, number by number: the compiler forgets of a whole array or tuple that it does not change."""
    kind = place.type.pointee
    if not isinstance(kind, (ir.LiteralStructType, ir.ArrayType)):
        value = builder.load(place)
        value.set_metadata("invariant.load", unchanging)
        return value
    whole = ir.Constant(kind, ir.Undefined)
    for index in range(len(kind)):
        part = _load(builder, cgutils.gep_inbounds(builder, place, 0, index), unchanging)
        whole = builder.insert_value(whole, part, index)
    return whole


@intrinsic
def _hold(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return cgutils.alloca_once_value(builder, args[0])

    return _Held(value)(value), generate


@intrinsic
def _keep(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.none(value), generate


def _itself(value: Any) -> Any:
    return value


held: Any = _itself if INTERPRETED else _hold
keep_until_here: Any = _itself if INTERPRETED else _keep
"""Arrays that a kernel made and holds are freed after it has named them for the last time: name them here."""
