"""Tuples that kernels hand on by address.

Numba hands a tuple to another kernel number by number, and an array is seven of them: all that a scan reads is some seven
hundred, packed and unpacked for every call of every kernel that takes it. That costs the compiler more than all that the
kernels do. ``held(tuple)`` stays where it is: a kernel gets its address and reads the fields that it names. Fields that are
tuples with arrays in them are held as well; numbers, arrays and small tuples of numbers are read.

What is held does not change as long as anything reads it, and the compiler is told so: it reads a field once, wherever
the kernel names it. So a kernel that holds a tuple hands it to an `apart_kernel`, which is not woven into it: by the time
that one begins, the tuple is written.

To call a kernel from Python with such a tuple takes the interpreter's lock for as long as the tuple is taken apart, and
on a core that has not done so lately that is a quarter of a millisecond: sixteen threads that began a scan so began it one after the
other. ``handed(tuple)`` is taken apart once, and what threads hand their kernels is its address; ``code_for`` gives the code that
they call without a look at the types of the arguments, which takes as long again.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba has no types.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    box,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)

from tussock.kernels import INTERPRETED, kernel

__all__ = ["address_for", "code_for", "handed", "held", "keep_until_here"]


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


class _Handed:
    """A tuple that is held from Python: its address, and what lives there."""

    __slots__ = ("address", "kept", "kind")

    def __init__(self, address: int, kind: Any, kept: Any) -> None:
        self.address, self.kind = address, kind
        self.kept = kept
        """the memory at the address, and the arrays that it speaks of"""


@typeof_impl.register(_Handed)
def _kind_of(value: _Handed, context: Any) -> Any:
    return value.kind


@box(_Held)
def _told(kind: Any, address: Any, c: Any) -> Any:
    """Python is told of what type the tuple is; where it is, it knows."""
    known = c.env_manager.read_const(c.env_manager.add_const(kind))
    c.pyapi.incref(known)
    return known


@unbox(_Held)
def _from_python(kind: Any, value: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.builder.inttoptr(c.pyapi.long_as_ulonglong(number), c.context.get_value_type(kind))
    c.pyapi.decref(number)
    return NativeValue(address)


def _measured(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant(types.intp, context.get_abi_sizeof(args[0].type))

    return types.intp(value), generate


def _stored(typing_context: Any, value: Any, memory: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = context.make_array(signature.args[1])(context, builder, args[1]).data
        address = builder.bitcast(place, args[0].type.as_pointer())
        builder.store(args[0], address)
        return address

    return _Held(value)(value, memory), generate


_size_of: Any = intrinsic(_measured)
_put: Any = intrinsic(_stored)


@kernel
def _write_down(value: Any) -> Any:
    memory = np.empty(_size_of(value), np.uint8)
    return memory, _put(value, memory)


def handed(value: Any) -> Any:
    """A tuple of arrays and numbers for kernels that hold it, taken apart here once for all threads that call them."""
    if INTERPRETED:
        return value
    try:
        memory, kind = _write_down(value)
    except SystemError as error:  # Ctrl-C while Numba takes a tuple apart, which asks Python for its class
        if isinstance(_first_cause(error), KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    return _Handed(int(memory.ctypes.data), kind, (memory, value))


def _first_cause(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


class _Code(NamedTuple):
    """What a kernel is compiled to for some types."""

    call: Any
    """from Python"""
    address: int
    """for machine code"""
    of: tuple[Any, ...]
    """the kernel and the types: as long as they are here, nothing else has their names"""


_codes: dict[tuple[int, ...], _Code] = {}


def code_for(kernel: Any, *given: Any) -> Any:
    """A kernel's code for whole numbers and what is `handed`, to be called with such arguments alone."""
    return kernel if INTERPRETED else _code(kernel, given).call


def address_for(kernel: Any, *given: Any) -> int:
    """Where that code is, for other machine code to call as Numba calls kernels."""
    return _code(kernel, given).address


def _code(kernel: Any, given: tuple[Any, ...]) -> _Code:
    kinds = tuple(one.kind if isinstance(one, _Handed) else types.int64 for one in given)
    name = (id(kernel), *map(id, kinds))
    found = _codes.get(name)
    if found is None:
        call, compiled = kernel.compile(kinds), kernel.overloads[kinds]
        address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        found = _codes[name] = _Code(call, address, (kernel, kinds))
    return found
