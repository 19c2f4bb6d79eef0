"""What the studio shows, in words that make the same bytes again: a command line, and Python."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from tussock.scene.wind import wind_of
from tussock.scenes.ready import scene_names
from tussock.studio.ask import Ask

__all__ = ["command_line", "python_code"]


def command_line(ask: Ask, scene: str, out: str, path: str = "path.tum") -> str:
    """The ``tussock scan`` that writes the frame to ``out``; ``path`` is the file of a path, where there is one."""
    words = ["tussock", "scan", scene, "--sensor", ask.sensor]
    words += ["--trajectory", path] if ask.walk is not None else ["--pose", ask.pose]
    for option, value in (("rate", ask.rate), ("rays", ask.rays), ("mode", ask.mode)):
        words += [] if value is None else [f"--{option}", _number(value)]
    for key, value in ask.changes().items():
        words += ["--set", f"{key}={_number(value)}"] if key.startswith("noise.") else []
    words += ["--weather", ask.weather.strip()] if ask.weather.strip() else []
    words += ["--wind", ask.wind.strip()] if ask.wind.strip() else []
    words += ["--from", _number(ask.time)] if ask.time else []
    words += ["--seed", str(ask.seed), "--out", out]
    # A pose may begin with a minus: the parser takes it after an equals sign.
    return shlex.join(_joined(words))


def _joined(words: list[str]) -> list[str]:
    told: list[str] = []
    for word in words:
        if told and told[-1].startswith("--") and "=" not in told[-1] and word.startswith("-") and len(word) > 1:
            told[-1] += f"={word}"
        else:
            told.append(word)
    return told


def python_code(ask: Ask, scene: str, out: str, path: str = "path.tum") -> str:
    """A program that writes the frame to ``out``."""
    lines = ["import tussock", "", f"scene = {_opened(scene)}"]
    if ask.weather.strip():
        lines.append(f"scene = scene.with_weather(tussock.parse_weather({ask.weather.strip()!r}))")
    if ask.wind.strip():
        wind = wind_of(ask.wind)
        told = ", ".join(f"{key}={getattr(wind, key)!r}" for key in ("speed_m_s", "from_deg", "gusts"))
        lines.append(f"scene.wind = tussock.Wind({told})")
    changes = ask.changes()
    lines.append(f"sensor = tussock.load_sensor({ask.sensor!r}){f'.with_(**{changes!r})' if changes else ''}")
    place = f"tussock.Trajectory.load({path!r})" if ask.walk is not None else f"tussock.Pose.parse({ask.pose!r})"
    lines.append(f"place = {place}")
    number = ask.frame(ask.device())
    lines.append(f"frame = tussock.scan(scene, sensor, place, seed={ask.seed}, frame={number})")
    lines.append(f"tussock.save_frame(frame, {out!r})")
    return "\n".join(lines) + "\n"


def _opened(scene: str) -> str:
    if scene in scene_names():
        return f"tussock.ready_scene({scene!r})"
    suffix = Path(scene).suffix.lower()
    if suffix in (".tussock", ".blend"):
        return f"tussock.load_{'pack' if suffix == '.tussock' else 'blend'}({scene!r}).scene"
    return f"tussock.load_scene({scene!r})"


def _number(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
