"""What a graphics processor does in one instruction where the source says it in several."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types as numba_types

from tussock.extras import load_extra
from tussock.trace.cuda.compiled import numba_cuda
from tussock.trace.cuda.walk import four, joined, reciprocal

__all__ = ["in_one_instruction"]

types: Any = numba_types


@cache
def in_one_instruction() -> dict[Any, Any]:
    """What stands for functions of `tussock.trace.cuda.walk` in kernels."""
    numba_cuda()
    intrinsic = load_extra("numba.cuda.extending", extra="cuda", purpose="on='gpu'").intrinsic
    return {four: _four(intrinsic), joined: _joined(intrinsic), reciprocal: _reciprocal(intrinsic)}


def _four(intrinsic: Callable[..., Any]) -> Any:
    """One look at memory: rows of float32 begin at multiples of 16 bytes."""

    @intrinsic
    def four_at_once(context: Any, table: Any, width: Any, row: Any, column: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            width, row, column = (context.cast(builder, args[i], signature.args[i], types.int64) for i in (1, 2, 3))
            place = builder.mul(builder.add(builder.mul(row, width), column), ir.Constant(ir.IntType(64), 4))
            start = builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [place])
            kind = ir.VectorType(ir.FloatType(), 4)
            loaded = builder.load(builder.bitcast(start, kind.as_pointer()))
            loaded.align = 16
            parts = [builder.extract_element(loaded, ir.Constant(ir.IntType(32), i)) for i in range(4)]
            return context.make_tuple(builder, signature.return_type, parts)

        return types.UniTuple(types.float32, 4)(table, width, row, column), generate

    return four_at_once


def _joined(intrinsic: Callable[..., Any]) -> Any:
    """A product and a sum, rounded once."""

    @intrinsic
    def joined_at_once(context: Any, a: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.FloatType(), [ir.FloatType()] * 3)
            name = "llvm.fma.f32"
            function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
            return builder.call(function, args)

        return types.float32(types.float32, types.float32, types.float32), generate

    return joined_at_once


def _reciprocal(intrinsic: Callable[..., Any]) -> Any:
    """Right to the last bit or the one before it."""

    @intrinsic
    def reciprocal_at_once(context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.FloatType(), [ir.FloatType()])
            return builder.asm(kind, "rcp.approx.ftz.f32 $0, $1;", "=f,f", args, False)

        return types.float32(types.float32), generate

    return reciprocal_at_once
