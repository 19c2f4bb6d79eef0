"""Where packets of two returns a pulse put them.

One place is for the last return, the other for the strongest. Where these are the same echo it stands in the place of
the last, and the second strongest in that of the strongest (VLP-16 manual 63-9243, section 9.3.2; Hesai manuals, data
body of Pandar64 and PandarXT).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.return_modes import ReturnKind

__all__ = ["kinds_of_places"]

_STRONGEST, _LAST, _SECOND = (ReturnKind.STRONGEST, ReturnKind.LAST, ReturnKind.SECOND)


def kinds_of_places(kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Of every row of a frame in mode ``strongest+last`` the kind of the place it goes to, shape (n,)."""
    second = np.flatnonzero(kinds == _SECOND)
    if not len(second):
        return kinds
    places = kinds.copy()
    places[second] = _STRONGEST
    places[second - 1] = _LAST  # its pulse's strongest, the row before it
    return places
