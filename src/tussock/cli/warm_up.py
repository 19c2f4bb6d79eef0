"""``tussock warm-up``: compile now what the first scan would compile."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

__all__ = ["warm_up"]


def warm_up(
    scans: Annotated[bool, typer.Option("--scans", help="What scans need, and nothing else.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """Compile the code for this machine, once: scans and pictures begin without a wait from then on."""
    from tussock.cameras.camera import Camera
    from tussock.cameras.render import look, render
    from tussock.cli.console import out, print_json, waiting
    from tussock.kernel_cache import kept_in
    from tussock.poses import Pose
    from tussock.pulse.plain import plain_loop
    from tussock.scene.primitives import box, plane
    from tussock.scene.scene import Scene
    from tussock.scene.wind import Wind
    from tussock.sensors.catalogue import load_sensor
    from tussock.simulate import scan

    scene, swaying = Scene("what stands"), Scene("what sways")
    for one in (scene, swaying):
        one.add(plane((20, 20)), name="ground")
        one.add(box((0.1, 0.1, 1.0)), name="plant", label="shrub", position=(4, 0, 0.5))
    swaying.wind = Wind(speed_m_s=3.0)
    place, sensor, camera = Pose.at(0, 0, 1), load_sensor("vlp-16"), Camera(width=16, height=16, samples=1)
    work: dict[str, Any] = {
        "scans": lambda: scan(scene, sensor, place),
        "weather": lambda: scan(scene, sensor.with_(**{"receiver.model": "hits"}), place),  # the loop with all steps
        "pictures": lambda: render(scene, camera, place),
        "depth images": lambda: look(scene, camera, place),
        "wind": lambda: scan(swaying, sensor, place),
    }
    taken = {}
    for name in ("scans",) if scans else work:
        begin = time.process_time()
        with waiting(f"warming up: {name}", quiet=as_json):
            work[name]()
        taken[name] = time.process_time() - begin
    folder = kept_in(plain_loop())
    if as_json:
        print_json({"cpu_s": taken, "kept_in": folder})
        return
    for name, seconds in taken.items():
        out.print(f"{name:<13}{seconds:6.1f} CPU s")
    out.print(
        f"kept in {folder}" if folder else "not kept: no folder can be written; set NUMBA_CACHE_DIR to one that can"
    )
