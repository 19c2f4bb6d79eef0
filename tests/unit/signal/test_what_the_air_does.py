"""Clouds on an axis, films of water and drops in a beam, each kernel against its closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erf

from tussock.signal.air import CLEAR, drop_at, drop_place, drops_before, error_function, way_back
from tussock.signal.clouds import (
    AT,
    DEPTH,
    NODES,
    NUMBERS,
    PART_NUMBERS,
    SCATTERED,
    box_part,
    depth_of,
    part_end,
    part_kind,
    puff_part,
    returned,
    sum_densities,
    sum_parts,
)  # fmt: skip
from tussock.signal.film import film_mirror, film_passes, fresnel

F = np.float32
BOXES = [(2, 3.0, 7.0, 0.05, 0.004), (1, 6.0, 9.5, 0.02, 0.001)]
PUFFS = [(3, 5.0, 1.2, 0.3, 0.02), (0, 0.5, 0.8, 0.1, 0.006)]
"""kind, entered or middle [m], left or s [m], α, πβ"""
AIR = CLEAR._replace(
    extinction=F(0.03), overlap_from=F(0.5), overlap_to=F(2.5), near_to=F(6.0), near_exponent=F(1.5),
    spot=np.array([0.01, 0.003, 0.002, 0.8], np.float32),
)  # fmt: skip


def parts() -> np.ndarray:
    found = np.zeros((4, PART_NUMBERS), np.float32)
    for row, box in enumerate(BOXES):
        box_part(found[row], *map(F, box))
    for row, puff in enumerate(PUFFS, len(BOXES)):
        puff_part(found[row], *map(F, puff))
    return found


def sums(paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """πβ and the optical depth at paths, in plain NumPy."""
    beta, depth = np.zeros_like(paths), np.zeros_like(paths)
    for _, enters, leaves, a, b in BOXES:
        beta += b * ((paths >= enters) & (paths <= leaves))
        depth += a * np.clip(np.minimum(paths, leaves) - enters, 0, None)
    for _, middle, s, a, b in PUFFS:
        beta += b * np.exp(-((paths - middle) ** 2) / (2 * s * s))
        depth += a * s * math.sqrt(math.pi / 2) * (
            erf((paths - middle) / (math.sqrt(2) * s)) + erf(middle / (math.sqrt(2) * s))
        )  # fmt: skip
    return beta, depth


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_sums_over_clouds(count: int) -> None:
    """On the borders of the boxes, too, which belong to them."""
    room = np.full(NUMBERS, 77, np.float32)
    room[AT : AT + NODES] = np.append(np.linspace(0.05, 12, NODES - 4), [3.0, 7.0, 6.0, 9.5])
    sum_parts(parts(), count, room)
    boxes, puffs = BOXES[:], PUFFS[:]
    try:
        BOXES[:], PUFFS[:] = boxes[:count], puffs[: max(count - len(boxes), 0)]
        beta, depth = sums(room[AT : AT + NODES].astype(float))
        whole = float(sums(np.array([500.0]))[1][0])
    finally:
        BOXES[:], PUFFS[:] = boxes, puffs
    np.testing.assert_allclose(room[SCATTERED : SCATTERED + NODES], beta, atol=1e-7, rtol=1e-5)
    np.testing.assert_allclose(room[DEPTH : DEPTH + NODES], depth, atol=2e-6, rtol=1e-5)
    assert float(depth_of(parts(), count)) == pytest.approx(whole, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_densities_of_clouds_are_what_depths_grow_by(count: int) -> None:
    """Of boxes and puffs: πβ as beside the depths, and α as their slope."""
    room, more = np.zeros(NUMBERS, np.float32), np.zeros(NUMBERS, np.float32)
    paths = np.linspace(0.11, 12.03, NODES)  # on no border
    depths = []
    for off in (-1e-3, 1e-3):
        more[AT : AT + NODES] = paths + off
        sum_parts(parts(), count, more)
        depths.append(more[DEPTH : DEPTH + NODES].astype(float))
    more[AT : AT + NODES] = room[AT : AT + NODES] = paths
    sum_parts(parts(), count, more)
    sum_densities(parts(), count, room)
    np.testing.assert_allclose(
        room[SCATTERED : SCATTERED + NODES], more[SCATTERED : SCATTERED + NODES], rtol=1e-5, atol=1e-9
    )
    np.testing.assert_allclose(room[DEPTH : DEPTH + NODES], (depths[1] - depths[0]) / 2e-3, atol=2e-3)


@pytest.mark.parametrize("near_to", [6.0, 0.0])
def test_what_comes_back_of_a_metre(near_to: float) -> None:
    """πβ·ξ·e^(−2τ)/r², with the air's own extinction; nothing from the wall on."""
    air = AIR._replace(near_to=F(near_to))
    room = np.zeros(NUMBERS, np.float32)
    paths = np.linspace(0.2, 10.0, NODES)
    room[AT : AT + NODES] = paths
    sum_parts(parts(), 4, room)
    beta, depth = sums(paths)
    far = F(room[AT + 12])
    returned(air, far, room)
    seen = np.clip((paths - 0.5) / 2, 0, 1) * (np.minimum(paths / near_to, 1) ** 1.5 if near_to else 1)
    wanted = np.where(np.arange(NODES) < 12, beta * seen * np.exp(-2 * (depth + 0.03 * paths)) / paths**2, 0)
    np.testing.assert_allclose(room[DEPTH : DEPTH + NODES], wanted, rtol=1e-4, atol=1e-9)
    way = [float(way_back(air, F(path))) for path in paths]
    assert way == pytest.approx((seen * np.exp(-0.06 * paths)).tolist(), rel=1e-4, abs=1e-7)


def test_ends_and_kinds_of_clouds() -> None:
    rows = parts()
    assert [float(part_end(row, F(5.0))) for row in rows] == pytest.approx([7.0, 9.5, 11.0, 4.5])
    # Alone in its box, within both boxes, in the puff's middle, on a border, and where there is next to nothing.
    for path, count, kind in [
        (3.1, 2, 2),
        (6.5, 2, 2),
        (9.5, 2, 1),
        (5.0, 3, 3),
        (0.4, 4, 0),
        (8.7, 3, 1),
        (7.0, 1, 2),
    ]:
        assert int(part_kind(rows, count, F(path))) == kind, path


def test_a_film_turns_light_away_as_fresnel_says() -> None:
    for angle in np.deg2rad([0.0, 20.0, 53.06, 75.0, 85.0, 89.0]):
        inside = math.asin(math.sin(angle) / 1.33)
        if angle == 0:
            share = (0.33 / 2.33) ** 2
        else:  # the other form of the same law
            across = math.sin(angle - inside) / math.sin(angle + inside)
            along = math.tan(angle - inside) / math.tan(angle + inside)
            share = (across**2 + along**2) / 2
        cosine = F(math.cos(angle))
        assert float(fresnel(cosine)) == pytest.approx(share, rel=2e-4)
        passes = ((1 - share) / (1 - (0.33 / 2.33) ** 2)) ** 2
        for film in (0.0, 0.3, 1.0):
            assert float(film_passes(F(film), cosine)) == pytest.approx(1 - film + film * passes, abs=1e-4)
        for gloss in (0.0, 0.4, 1.0):
            assert float(film_mirror(F(gloss), cosine)) == pytest.approx(
                gloss * share * (gloss * share >= 0.2), abs=1e-4
            )
    assert float(fresnel(F(0.0))) == pytest.approx(1.0)
    at_the_limit = F(0.2) / fresnel(F(0.05))
    assert float(film_mirror(np.nextafter(at_the_limit, F(1)), F(0.05))) == pytest.approx(0.2)


def test_how_many_drops_are_nearer_is_never_too_few() -> None:
    """By steps of a table, upwards: what is drawn behind the end is left out later."""
    air = AIR._replace(before=np.array([0.0, 0.5, 2.0, 3.0], np.float32), relief_per_m=F(0.5))
    for path, mean in (
        (0.0, 0.5),
        (1.9, 0.5),
        (2.0, 2.0),
        (3.9, 2.0),
        (4.5, 3.0),
        (6.0, 3.0),
        (500.0, 3.0),
        (np.inf, 3.0),
    ):
        assert float(drops_before(air, F(path))) == mean


def test_a_drop_is_drawn_by_the_inverses_of_its_laws() -> None:
    """Of two kinds: at a quantile a share of the drops is of the first one."""
    places = np.array([[1.0, 0.3, 0.5, 1.0, 0.7], [3.0, 0.6, 0.9, 1.0, 1.1], [8.0, 0.9, 2.0, 1.0, 3.0]], np.float32)
    air = AIR._replace(places=places, laws=np.array([[0, 1, 1], [1, 0.4, 0.7]], np.float32))
    for quantile, v, kind in [(0.0, 0.0, 0.2), (0.25, 0.5, 0.5), (0.6, 0.9, 0.5), (0.999, 0.3, 0.7), (1.0, 0.3, 0.0)]:
        row = min(int(2 * quantile), 1)
        law = int(kind >= places[row, 1])
        place = drop_place(air, F(quantile), F(kind))
        path, least = (float(np.interp(2 * quantile, [0, 1, 2], places[:, k])) for k in (0, 2 + 2 * law))
        assert place.law == law
        assert (float(place.path), float(place.least)) == pytest.approx((path, least), rel=1e-5)
        diameter = least - math.log(1 - v) * 0.4
        area = 0.8 * (0.01 + 0.003 * path) * (0.01 + 0.002 * path)
        fills = min(math.pi / 4 * (diameter * 1e-3) ** 2 / area, 1)
        way = float(way_back(air, F(path))) / path**2
        drop = drop_at(air, F(path), F(least), F(0.4), F(0.7), np.uint32(v * 2**32))
        assert float(drop.energy) == pytest.approx(0.7 * fills * way, rel=1e-3)
        assert float(drop.taken) == pytest.approx(min(4 * fills, 1), rel=1e-3)
    wide = air._replace(spot=np.array([1e-3, 0, 0, 1], np.float32))
    assert float(drop_at(wide, F(3), F(2), F(0.4), F(0.7), np.uint32(2**31)).taken) == 1.0, "no more than all of it"


def test_the_error_function() -> None:
    for x in (-3.0, -1.0, -0.2, 0.0, 0.4, 1.5, 4.0):
        assert float(error_function(F(x))) == pytest.approx(math.erf(x), abs=1e-6)
