"""The same source for another machine: kernels over packets as kernels over single rays.

The steps of a pulse are written once, in functions that call each other by name, for lanes of packets. Here the names of
`tussock.trace.packets` (how many lanes there are, how a packet looks, who traces it) stand for those of
`tussock.trace.cuda.packets`. Nothing of the physics is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tussock.rebound import Rebound
from tussock.trace import packets, surroundings
from tussock.trace.cuda import packets as single

__all__ = ["single_rays"]


def single_rays(
    wrap: Callable[..., Any], constants: Mapping[tuple[str, str], Any] | None = None,
    instead: Mapping[Any, Any] | None = None,
) -> Rebound:  # fmt: skip
    """Kernels over packets of sixteen rays as kernels over one.

    ``constants`` of modules that are to be others, ``instead`` what stands for further functions.
    """
    rebound = Rebound({("", "LANES"): single.LANES} | dict(constants or {}), wrap)
    for original, other in (instead or {}).items():
        rebound.put(original, other)
    bodies: dict[Any, Any] = {
        getattr(packets, name): getattr(single, name)
        for name in packets.__all__
        if hasattr(getattr(packets, name), "py_func") and hasattr(single, name)
    }
    bodies[surroundings.find_surfaces] = single.find_surfaces
    bodies[surroundings.trace_surfaces] = single.trace_surfaces
    bodies[surroundings.stop_light] = single.stop_light
    bodies[surroundings.trace_sub_ray] = single.trace_sub_ray
    bodies[surroundings.trace_onward] = single.trace_onward
    for original, body in bodies.items():
        rebound.put(original, rebound.of(body))
    rebound.put(packets.Packet, single.Packet)
    return rebound
