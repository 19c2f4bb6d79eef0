"""The legend of coloured points as a piece of a page."""

from __future__ import annotations

from html import escape

from tussock.plots.point_colors import Legend

__all__ = ["legend_html"]

_MOST = 14


def legend_html(legend: Legend) -> str:
    """Entries with their counts, or a bar with its ends and its middle."""
    title = f"<div style='opacity:.7;margin-bottom:.3em'>{escape(legend.name)}</div>"
    body = _bar(legend) if legend.ramp else _entries(legend)
    return f"<div style='font-size:.82em;line-height:1.45;margin:0 1em .6em 1em'>{title}{body}</div>"


def _entries(legend: Legend) -> str:
    total = max(sum(entry.points for entry in legend.entries), 1)
    rows = [
        f"<div style='display:flex;gap:.5em;align-items:center'>"
        f"<span style='width:.8em;height:.8em;border-radius:50%;background:{entry.color};flex:none'></span>"
        f"<span style='flex:1'>{escape(entry.text)}</span>"
        f"<span style='opacity:.75'>{entry.points:,}</span>"
        f"<span style='opacity:.5;width:3.6em;text-align:right'>{100 * entry.points / total:.1f} %</span></div>"
        for entry in legend.entries[:_MOST]
    ]
    rest = sum(entry.points for entry in legend.entries[_MOST:])
    rows += [f"<div style='opacity:.6'>{len(legend.entries) - _MOST} more: {rest:,}</div>"] if rest else []
    return "".join(rows) or "<div style='opacity:.6'>no points</div>"


def _bar(legend: Legend) -> str:
    ends = (legend.low, (legend.low + legend.high) / 2, legend.high)
    texts = "".join(f"<span>{value:.3g}</span>" for value in ends)
    return (
        f"<div style='height:.8em;border-radius:.25em;background:linear-gradient(to right,{','.join(legend.ramp)})'></div>"
        f"<div style='display:flex;justify-content:space-between;opacity:.75'>{texts}</div>"
    )
