"""Kernels that call each other are compiled as one: each is optimised and made into machine code once, with its caller.

Numba makes every kernel ready to be called from Python: it unpacks Python objects, is optimised and becomes machine code,
with copies of all kernels that it calls. A kernel five calls down is so compiled five times over, for nothing, since it is
woven into the outermost one. Here a kernel that another one calls is a *part*: its code waits, as Numba wrote it, for the
*whole*, which a call from Python compiles and which is cached. A kernel that is called both ways is compiled both ways.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba has no types.

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any, ClassVar

from llvmlite import ir
from numba.core import compiler, compiler_machinery, registry, typed_passes, types
from numba.core.codegen import JITCodeLibrary

__all__ = ["Kernel", "WholeCompiler"]

_passes: Any = compiler.DefaultPassBuilder
_register_pass: Any = compiler_machinery.register_pass


class _KernelLibrary(JITCodeLibrary):
    def add_ir_module(self, ir_module: Any) -> None:
        """Say of every tuple that is handed over by address (`tussock.kernel_context`) that all of it is there.

        Then the compiler may read a field before it knows whether it is wanted, and loops with branches become vector code.
        """
        for function in ir_module.functions:
            for argument in () if function.is_declaration else function.args:
                pointee = getattr(argument.type, "pointee", None)
                if argument.name.startswith("arg.") and isinstance(pointee, (ir.LiteralStructType, ir.ArrayType)):
                    argument.attributes.align = 8
                    argument.attributes.dereferenceable = pointee.get_abi_size(self._codegen.target_data)
        super().add_ir_module(ir_module)


class _PartLibrary(_KernelLibrary):
    """The code of a part: not optimised, not linked to what it calls, not in memory to be run."""

    apart = False
    """whether it is never woven into its callers"""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions if self.apart else ():
            if not function.is_declaration and function.linkage in ("", "external"):
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def add_llvm_module(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "linkonce_odr"  # what is woven in everywhere need not stay
        self._final_module = module

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        return self._final_module

    def closure(self) -> Iterator[Any]:
        """Itself and all that it needs, each once."""
        waiting, seen = [self], {self}
        while waiting:
            library: Any = waiting.pop()
            yield library
            for further in getattr(library, "_linking_libraries", ()) if isinstance(library, _PartLibrary) else ():
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)


class _WholeLibrary(_KernelLibrary):
    """The code of a whole: its own, and that of all parts which it needs, directly or not."""

    def add_llvm_module(self, module: Any) -> None:
        # Each function by itself is not optimised: that comes when all are together.
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def add_linking_library(self, library: Any) -> None:
        for needed in library.closure() if isinstance(library, _PartLibrary) else (library,):
            super().add_linking_library(needed)


class _Remembering:
    """A typing context that asks once what a function of Numba's gives for arguments of some types.

    Numba looks through all variants of ``+`` wherever two numbers are added, and that is most of what typing costs.
    """

    _known: ClassVar[dict[Any, Any]] = {}

    def __init__(self, context: Any, flags: Any) -> None:
        self._context = context
        self._flags = flags.get_mangle_string()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, named: Any) -> Any:
        key = (self._flags, function, args)
        if named or not (isinstance(function, (types.Function, BuiltinFunctionType))):
            return self._context.resolve_function_type(function, args, named)
        found = self._known.get(key)
        if found is None:
            found = self._context.resolve_function_type(function, args, named)
            if found is not None:
                self._known[key] = found
        return found


class _KernelCompiler(compiler.CompilerBase):
    def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any) -> None:
        super().__init__(_Remembering(typing, flags), target, library, args, result, flags, names)


class WholeCompiler(_KernelCompiler):
    """How Numba compiles what is called from Python, or by a library."""

    def define_pipelines(self) -> list[Any]:
        self.state.library = _WholeLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [_passes.define_nopython_pipeline(self.state)]


class _PartCompiler(_KernelCompiler):
    apart = False

    def define_pipelines(self) -> list[Any]:
        self.state.flags.no_compile = True
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.apart = self.apart
        passes: Any = _passes.define_nopython_pipeline(self.state)
        passes.add_pass_after(_Name, typed_passes.NativeLowering)
        passes.finalize()
        return [passes]


class _ApartCompiler(_PartCompiler):
    apart = True


@_register_pass(mutates_CFG=False, analysis_only=False)
class _Name(compiler_machinery.LoweringPass):
    """Give the part a name by which callers find its code; a whole has its entry point for that."""

    _name = "name_part"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered, name = state["cr"], object()
        state.targetctx.insert_user_function(name, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=name)
        return True


_MOST_UNSEEN = 5_000_000
"""objects that the compiler makes before garbage is looked for among them"""


class _SeldomCollecting:
    """The compiler makes millions of objects that stay until it is done: to look for garbage among them is in vain.

    Threads that ask for the same kernel at once wait for each other inside: the last one sets back what the first one found.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = gc.get_threshold()
                gc.set_threshold(max(self._before[0], _MOST_UNSEEN), *self._before[1:])
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                gc.set_threshold(*self._before)


_seldom_collecting = _SeldomCollecting()


class _Part(registry.CPUDispatcher):
    """A kernel as other kernels see it."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class Kernel(registry.CPUDispatcher):
    """A kernel as Python sees it, which hands its part to other kernels."""

    def __init__(
        self, py_func: Any, locals: Any = None, targetoptions: Any = None, pipeline_class: Any = WholeCompiler, *,
        apart: bool = False,
    ) -> None:  # fmt: skip
        locals = {} if locals is None else locals
        super().__init__(py_func, locals, {**targetoptions, "no_cfunc_wrapper": True}, pipeline_class)
        self.apart = apart
        alone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self.part: Any = _Part(py_func, locals, {**targetoptions, **alone}, _ApartCompiler if apart else _PartCompiler)

    def compile(self, sig: Any) -> Any:
        with _seldom_collecting:
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # Numba would compile a kernel once more for every constant that it is handed; LLVM sees constants where it is woven in.
        plain = tuple(types.unliteral(kind) for kind in args)
        return self.part.get_call_template(plain, {name: types.unliteral(kind) for name, kind in kws.items()})

    def get_overload(self, signature: Any) -> Any:
        return self.part.get_overload(signature)

    def get_compile_result(self, signature: Any) -> Any:
        return self.part.get_compile_result(signature)
