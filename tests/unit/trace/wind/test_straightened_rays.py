"""Rays as a swaying shape is asked: where its tip is at their times, and the straight pieces in the shape's own coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.trace.wind import sway_geometry as geometry
from tussock.trace.wind.straightened import Plant, line, not_zero
from tussock.trace.wind.sway import BASE, GAINS, HEIGHT, Tip, straight

f = np.float32
LANES, ROOM, GIVEN = 16, geometry._ROOM, geometry._FAR + 16
STEPS = 6


def quadratic() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Tips at the steps of a span on a parabola in time, and its three coefficients for x, y and what is left."""
    factors = np.array([[0.3, 0.4, -0.5], [-0.2, 0.1, 0.3], [0.95, -0.08, 0.06]])
    times = np.linspace(0, 1, STEPS)
    return (factors @ np.stack([times**0, times, times**2])).T.astype(f).ravel(), factors


@pytest.mark.parametrize("times", [(0.0, 1.0), (0.31, 0.36), (0.93, 1.0), (0.0, 0.15)], ids=str)
def test_tips_lie_on_the_parabola_through_their_steps(times: tuple[float, float]) -> None:
    """Whether rays are asked one by one, as where all have one time, or each has its own."""
    tips, factors = quadratic()
    valid, given = np.ones(LANES, np.uint32), np.zeros(GIVEN, f)
    when = np.linspace(*times, LANES).astype(f)
    given[geometry._TIME : geometry._TIME + LANES] = when
    valid[[3, 9]] = 0
    given[geometry._TIME + 9] = 0.5  # of a lane that is not in use: any
    wanted = factors @ np.stack([when.astype(float) ** power for power in range(3)])
    room = np.zeros(ROOM, f)
    geometry._take_tips(tips, STEPS, valid, given, room)
    for l in range(LANES):
        if valid[l]:
            one = geometry._tip_at(tips, STEPS, when[l])
            for row, alone, number in zip(
                (geometry._TIP_X, geometry._TIP_Y, geometry._TALL), one, wanted[:, l], strict=True
            ):
                assert room[row + l] == alone == pytest.approx(number, abs=2e-6)


def test_a_parabola_is_that_of_the_rays_own_steps() -> None:
    """Of a tip that goes to and fro, each ray sees the three steps from the one before it on, or the last three."""
    rng = np.random.default_rng(3)
    nodes = rng.normal(size=(STEPS, 3)).astype(f)
    for time in (0.0, 0.1, 0.25, 0.5, 0.7, 0.99, 1.0):
        first = min(int(time * (STEPS - 1)), STEPS - 3)
        at = time * (STEPS - 1)
        wanted = [
            np.polyval(np.polyfit(np.arange(first, first + 3), nodes[first : first + 3, k], 2), at) for k in range(3)
        ]
        assert geometry._tip_at(nodes.ravel(), STEPS, f(time)) == pytest.approx(wanted, abs=1e-5)


class Setting:
    """A shape that stands turned and sheared somewhere, its tip taken aside, and rays that go at it from all around."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ (np.eye(3) + rng.uniform(-0.2, 0.2, (3, 3)))
        self.inverse, self.place = np.linalg.inv(turn), rng.uniform(-3, 3, 3)
        self.base = 0.1
        box = np.array([-0.4, -0.5, 0.0, 0.5, 0.3, 1.6], f)
        shape = np.zeros(GAINS)
        shape[BASE], shape[HEIGHT] = self.base, 1.5
        copies = geometry.Copies(shape, None, None, None, box, None)
        numbers = geometry.box_numbers(copies)
        margin = 1e-4
        assert numbers[:3] == pytest.approx([-0.4 - margin, -0.5 - margin, 0.0 - margin])
        assert numbers[3:] == pytest.approx([0.5 + margin, 0.3 + margin, 1.5, self.base, 1 / 1.5])
        back = np.concatenate([self.inverse.ravel(), self.place]).astype(f)
        self.plant = Plant(
            tuple(back), tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6], numbers[7]
        )  # fmt: skip
        self.shape, self.tip = shape, Tip(float(f(rng.uniform(-0.5, 0.5))), float(f(rng.uniform(-0.5, 0.5))), 0.875)
        aim = (self.place[:, None] + turn @ rng.uniform([-0.3, -0.3, 0.0], [0.3, 0.2, 1.3], (LANES, 3)).T).T
        self.start = aim + 4 * rng.normal(size=(LANES, 3))
        way = aim - self.start
        self.way = way / np.linalg.norm(way, axis=1, keepdims=True)
        self.given, self.room = np.zeros(GIVEN, f), np.zeros(ROOM, f)
        for row, column in zip(range(0, 3 * LANES, LANES), self.start.T, strict=True):
            self.given[row : row + LANES] = column
        for row, column in zip(range(geometry._DIR_X, geometry._DIR_X + 3 * LANES, LANES), self.way.T, strict=True):
            self.given[row : row + LANES] = column
        self.given[geometry._FAR : geometry._FAR + LANES] = 50.0
        self.words, self.valid = self.room.view(np.uint32), np.ones(LANES, np.uint32)
        self.valid[5] = 0
        tip = Tip(*(f(number) for number in self.tip))
        for l in range(LANES):
            geometry._take_upright(self.plant, tip, geometry._Rays(self.valid, self.given, self.room, self.words), l)

    def in_shape(self, l: int, distance: float) -> NDArray[np.float64]:
        """A point of a ray in the coordinates of the shape."""
        return self.inverse @ (self.start[l] + distance * self.way[l] - self.place)


@pytest.mark.parametrize("seed", range(4))
def test_the_part_of_a_ray_that_may_meet_the_plant_is_that_in_its_box(seed: int) -> None:
    """The box holds the shape upright and bent: it reaches as far aside as the tip, and as high as what is left."""
    here = Setting(seed)
    low = np.array([-0.4 + min(here.tip.x, 0), -0.5 + min(here.tip.y, 0), 0.0])
    high = np.array([0.5 + max(here.tip.x, 0), 0.3 + max(here.tip.y, 0), here.base + 1.5 * here.tip.tall])
    for l in range(LANES):
        start, way = here.in_shape(l, 0.0), here.in_shape(l, 1.0) - here.in_shape(l, 0.0)
        one, other = (low - start) / way, (high - start) / way
        begin, end = np.minimum(one, other).max(), np.maximum(one, other).min()
        assert here.room[geometry._BEGIN + l] == pytest.approx(max(begin, 0.0), abs=5e-3)
        assert here.room[geometry._END + l] == pytest.approx(end, abs=5e-3)
        heights = (np.array([start[2] + t * way[2] for t in (begin, end)]) - here.base) / (1.5 * here.tip.tall)
        rise = abs(heights[1] - heights[0]) * min(1 - heights.min(), 1.0)
        assert here.room[geometry._RISE + l] == pytest.approx(rise, abs=5e-3)
        inside = bool(here.valid[l]) and begin < end
        if abs(begin - end) > 1e-2:
            assert here.words[geometry._MASK + l] == (0xFFFFFFFF if inside else 0)
        if abs(rise - 0.27) > 1e-2 and abs(rise - 0.54) > 1e-2:
            pieces = 1 if rise < 0.27 else 2 if rise < 0.54 else 3
            assert here.room[geometry._SHARE + l] == pytest.approx(1 / pieces)
            assert here.words[geometry._SEVERAL + l] == (here.words[geometry._MASK + l] if pieces > 1 else 0)
        rows = (geometry._TIP_X, geometry._TIP_Y, geometry._PER_TALL)
        told = (here.tip.x, here.tip.y, 1 / here.tip.tall)
        assert [here.room[row + l] for row in rows] == pytest.approx(told, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_a_piece_goes_through_both_of_its_ends_made_straight(seed: int, pieces: int) -> None:
    here = Setting(seed)
    room = here.room
    for l in range(LANES):
        room[geometry._SHARE + l] = 1 / pieces
        begin, end = float(room[geometry._BEGIN + l]), float(room[geometry._END + l])
        for piece in range(pieces):
            geometry._straighten(here.plant, room, piece, l)
            near, far = begin + (end - begin) * piece / pieces, begin + (end - begin) * (piece + 1) / pieces
            assert room[geometry._FROM + l] == pytest.approx(near, abs=1e-5)
            assert room[geometry._TO + l] == pytest.approx(far, abs=1e-5)
            start, way = (
                np.array([room[geometry._SENT + row + k * LANES + l] for k in range(3)], float)
                for row in (0, geometry._DIR_X)
            )
            for distance in (near, far):
                wanted = straight(here.shape, here.tip, *here.in_shape(l, distance))
                np.testing.assert_allclose(start + distance * way, wanted, atol=2e-5)


def test_pieces_are_lent_and_given_back() -> None:
    """A ray in pieces is as long as one; it gets its ends back unless it has met something, and goes on till it is through."""
    given, room = np.zeros(GIVEN, f), np.zeros(ROOM, f)
    words = room.view(np.uint32)
    masks = words[geometry._MASK : geometry._MASK + LANES]
    masks[:] = 0xFFFFFFFF
    masks[4] = 0
    lanes = np.arange(LANES)
    share = np.array([1.0, 0.5, 1 / 3], f)[lanes % 3]
    far = (60.0 + lanes).astype(f)
    far[[7, 8]] = 3.5, 4.25  # they have met something within the first piece, and within the second
    now = {name: given[row : row + LANES] for name, row in (("near", geometry._NEAR), ("far", geometry._FAR))}
    now["near"][:], now["far"][:] = 0.25, far
    room[geometry._SHARE : geometry._SHARE + LANES] = share
    room[geometry._BEGIN : geometry._BEGIN + LANES] = 3.0
    room[geometry._END : geometry._END + LANES] = 3.0 + 1.0 / share

    def take(begin: float) -> None:
        room[geometry._FROM : geometry._FROM + LANES], room[geometry._TO : geometry._TO + LANES] = begin, begin + 1.0
        geometry._take_piece(given, room, words)

    take(3.0)
    sent, lent = lanes != 4, (share < 1) & (lanes != 4)
    assert now["near"].tolist() == np.where(sent, 3.0, 0.25).tolist()
    assert now["far"].tolist() == np.where(lent, np.minimum(4.0, far), far).tolist()
    now["far"][5] = 3.75  # lane 5 meets something
    geometry._give_back(given, room, words, 0)
    on = lent & ~np.isin(lanes, [5, 7])
    assert (masks != 0).tolist() == on.tolist()
    far[5] = 3.75
    assert now["near"].tolist() == [0.25] * LANES
    assert now["far"].tolist() == far.tolist()
    # After the second piece those of two are through, and those that have met something before the third; after the third all.
    take(4.0)
    assert now["far"].tolist() == np.where(on, np.minimum(5.0, far), far).tolist()
    geometry._give_back(given, room, words, 1)
    on &= (share < 0.4) & (lanes != 8)
    assert (masks != 0).tolist() == on.tolist()
    take(5.0)
    geometry._give_back(given, room, words, 2)
    assert not masks.any()
    assert now["far"].tolist() == far.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_ray_has_the_same_pieces_whatever_it_met_before(seed: int) -> None:
    """Plants are asked in whatever order, and what they are asked is the same; one that lies behind what was met is not asked."""
    free, shortened = Setting(seed), Setting(seed)
    rows = (geometry._BEGIN, geometry._END, geometry._RISE, geometry._SHARE)
    begin, end = (free.room[row : row + LANES] for row in (geometry._BEGIN, geometry._END))
    through = (begin < end) & (free.valid != 0)
    assert through.sum() > 10
    met = np.where(np.arange(LANES) % 3 == 0, 0.9 * begin, 0.5 * (begin + end)).astype(f)
    shortened.given[geometry._FAR : geometry._FAR + LANES] = met
    tip = Tip(*(f(number) for number in shortened.tip))
    for l in range(LANES):
        rays = geometry._Rays(shortened.valid, shortened.given, shortened.room, shortened.words)
        geometry._take_upright(shortened.plant, tip, rays, l)
    for row in rows:
        assert shortened.room[row : row + LANES].tolist() == free.room[row : row + LANES].tolist()
    asked = shortened.words[geometry._MASK : geometry._MASK + LANES] != 0
    assert asked.tolist() == (through & (met > begin)).tolist()
    for piece in range(geometry.PIECES):
        for l in range(LANES):
            geometry._straighten(free.plant, free.room, piece, l)
            geometry._straighten(shortened.plant, shortened.room, piece, l)
        for row in (*range(geometry._SENT, geometry._SENT + 8 * LANES, LANES), geometry._FROM, geometry._TO):
            assert shortened.room[row : row + LANES].tobytes() == free.room[row : row + LANES].tobytes()


def test_the_line_is_that_of_a_cantilever() -> None:
    for share in (-0.5, 0.0, 0.2, 0.7, 1.0, 1.5):
        z = min(max(share, 0.0), 1.0)
        assert line(f(share)) == pytest.approx((z**4 - 4 * z**3 + 6 * z**2) / 3, abs=1e-6)
    assert [float(not_zero(f(x))) for x in (0.0, -0.0, 2.0, -2.0)] == pytest.approx([1e-12, 1e-12, 2.0, -2.0])
