"""What a ray is in: air, water, glass in water. The innermost medium bends the ray, the outer ones wait.

A closed body with a refractive index other than 1 is a medium. A ray that enters it has it as its innermost; one that
leaves it has the next one again, and so has one that leaves an outer body first, where two overlap. A surface of index
1 is a pane modelled as one sheet: behind it is what was before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Real, inline_kernel

__all__ = ["AIR", "Media", "beyond"]

_ONE = np.float32(1.0)


class Media(NamedTuple):
    """Refractive indices of the media around a point, the innermost first; 1 where there are fewer."""

    inner: Real
    second: Real
    third: Real
    fourth: Real


AIR = Media(_ONE, _ONE, _ONE, _ONE)
"""nothing but air"""


@inline_kernel
def beyond(media: Media, index: Real, entering: bool) -> Media:
    """The media behind a surface of a body with refractive ``index``."""
    if index == _ONE:
        return media
    if entering:
        return Media(index, media.inner, media.second, media.third)
    if media.inner == index:
        return Media(media.second, media.third, media.fourth, _ONE)
    if media.second == index:
        return Media(media.inner, media.third, media.fourth, _ONE)
    if media.third == index:
        return Media(media.inner, media.second, media.fourth, _ONE)
    if media.fourth == index:
        return Media(media.inner, media.second, media.third, _ONE)
    return media
