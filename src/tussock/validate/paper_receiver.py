"""The receiver of the papers: every ray by itself, seen whatever comes back, with the same noise at any distance."""

from __future__ import annotations

from typing import Any

__all__ = ["PAPER_RECEIVER"]

PAPER_RECEIVER: dict[str, Any] = {
    "receiver.model": "hits",
    "receiver.detects": (),
    "receiver.intensity_ceiling": 0.0,
    "receiver.ceiling_gain": 0.0,
    "noise.stated_at": None,
    "beam.rays": 1,
    "beam.sampling": "stencil",
}
"""settings over those of a sensor of the catalogue, which models the product and not a paper's simulation of it"""
