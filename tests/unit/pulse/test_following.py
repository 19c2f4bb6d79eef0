"""Rays that go on, each step by its law: mirrors turn, glass bends, leaves spread, and every path and energy is counted once."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.pulse import follow
from tussock.pulse.follow import (
    Travel,
    anything_goes_on,
    extra_hits,
    let_through,
    may_go_on,
    mirrored,
    new_waiting,
    passed_through,
    setting_out,
    stands_for,
    through_leaves,
)
from tussock.pulse.tables import Part
from tussock.rebound import in_python
from tussock.signal.media import Media
from tussock.trace.hit_tables import GLOSS, INDEX, LEAF, MIRROR, TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, load_ray, new_packet, set_hit
from tussock.trace.ray import SKIN, Hit, Ray

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of chance, as plain Python
f = np.float32
WATER = Media(f(1.25), f(1.5), f(1.0), f(1.0))
TRAVEL = Travel(f(0.5), f(4.0), f(2.0), WATER, f(0.0), f(3.0), f(0.125))


def optics(**columns: float) -> np.ndarray:
    row = np.zeros(10, f)
    row[INDEX] = 1.0
    for name, value in columns.items():
        row[getattr(follow, name)] = value
    return row


def flat(travel: Travel) -> list[float]:
    """Its numbers in a row."""
    return [float(x) for part in travel for x in (part if isinstance(part, tuple) else (part,))]


def slanting() -> tuple[Ray, Hit]:
    """Downwards at the slope 3:4 onto the floor z = 0, from (1, 2, 4): 5 m to (4, 2, 0); its normal is 2 long."""
    ray = Ray(*map(f, (1, 2, 4, 0.6, 0, -0.8, 0.01, 60, 0.25)))
    return ray, Hit(f(5.0), f(0), f(0), f(2), f(0.1), f(0.2), np.uint32(7), np.uint32(8), np.uint32(9), np.int32(0))


def test_a_mirror_turns_a_ray_and_is_passed_twice() -> None:
    """0.8 of the light, out and back: 0.64. 5 m in water of 1.25 are 6.25 m of path; so much less is left of the range."""
    ray, hit = slanting()
    onward, travel = in_python(mirrored)(optics(MIRROR=0.8), ray, hit, TRAVEL, f(30.0))
    assert tuple(onward)[:6] == pytest.approx((4, 2, 0, 0.6, 0, 0.8), abs=1e-6)
    assert onward.near == pytest.approx(max(SKIN, 5e-7 * 5.0 / 0.8)) and onward.time == 0.25
    assert onward.far == pytest.approx((30 - 10.25) / 1.25)
    assert flat(travel) == pytest.approx([0.5 * 0.64, 10.25, 3.0, *WATER, 0.0, 3.0, 0.125], rel=1e-6)


def test_a_glossy_film_turns_what_fresnel_says_beside_the_mirror() -> None:
    ray, hit = slanting()
    low = ray._replace(dx=f(math.cos(0.05)), dz=f(-math.sin(0.05)))
    _, travel = in_python(mirrored)(optics(MIRROR=0.1, GLOSS=0.5), low, hit, TRAVEL, f(30.0))
    inside = math.asin(math.cos(0.05) / 1.33)
    out = math.pi / 2 - 0.05
    share = (math.sin(out - inside) / math.sin(out + inside)) ** 2 + (
        math.tan(out - inside) / math.tan(out + inside)
    ) ** 2
    assert travel.energy == pytest.approx(0.5 * (0.1 + 0.5 * share / 2) ** 2, rel=1e-3)
    _, steep = in_python(mirrored)(optics(MIRROR=0.1, GLOSS=0.5), ray, hit, TRAVEL, f(30.0))
    assert steep.energy == pytest.approx(0.5 * 0.01), "a faint film is not followed"


def test_the_angle_of_a_film_is_that_to_its_normal() -> None:
    """Whichever way it looks: a ray along (0.6, 0.48, −0.64) at a normal that is 0.08 of its length along that."""
    way, normal = np.array([0.6, 0.48, -0.64]), np.array([0.8, 0.3, 0.848])
    cosine = abs(way @ normal) / np.linalg.norm(normal)
    ray = Ray(*map(f, (0, 0, 0, *way, 0, 9, 0)))
    for sign in (1, -1):
        hit = slanting()[1]._replace(nx=f(sign * 0.8), ny=f(sign * 0.3), nz=f(sign * 0.848))
        inside = math.sqrt(1 - (1 - cosine**2) / 1.33**2)
        across, along = (
            (cosine - 1.33 * inside) / (cosine + 1.33 * inside),
            (1.33 * cosine - inside) / (1.33 * cosine + inside),
        )
        share = in_python(follow._turned)(optics(GLOSS=1.0), ray, hit)
        assert share == pytest.approx((across**2 + along**2) / 2, rel=1e-3) and 0.2 < share < 0.95


def test_far_from_zero_a_ray_leaves_out_more_of_its_way() -> None:
    """Steps of single precision: 5e-7 of the coordinates along the normal and of the way, over the cosine."""
    ray, hit = slanting()
    far = ray._replace(x=f(1001.0), y=f(-2000.0), z=f(4004.0))
    onward, _ = in_python(mirrored)(optics(MIRROR=1.0), far, hit._replace(nx=f(3), ny=f(4), nz=f(12)), TRAVEL, f(30.0))
    normal = np.array([3, 4, 12]) / 13
    way = np.array([0.6, 0, -0.8])
    turned = way - 2 * (way @ normal) * normal
    size = np.abs(normal * [1004, -2000, 4000]).sum() + 5
    assert tuple(onward)[3:6] == pytest.approx(tuple(turned), abs=1e-6)
    assert onward.near == pytest.approx(5e-7 * size / abs(turned @ normal), rel=1e-4)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_glass_bends_by_snell_on_either_side(side: float) -> None:
    """Into glass of 1.5 out of 1.25, or, where the normal looks along the ray, out of the innermost into what was before."""
    ray, hit = slanting()
    hit = hit._replace(nz=f(2 * side))
    index = 1.5 if side > 0 else 1.25
    onward, travel = in_python(passed_through)(optics(TRANSMISSION=0.9, INDEX=index), ray, hit, TRAVEL, f(30.0))
    behind = Media(f(1.5), *WATER[:3]) if side > 0 else Media(f(1.5), f(1), f(1), f(1))
    sine = 0.6 * 1.25 / 1.5
    assert tuple(onward)[:6] == pytest.approx((4, 2, 0, sine, 0, -math.sqrt(1 - sine * sine)), abs=1e-6)
    assert onward.far == pytest.approx((30 - 10.25) / 1.5)
    assert flat(travel) == pytest.approx([0.5 * 0.81, 10.25, 3.0, *behind, 0.0, 3.0, 0.125], rel=1e-6)


def test_what_cannot_leave_is_turned_back_whole() -> None:
    """From 2.0 into air at the sine 0.6: 1.2 is none. It stays in its medium and loses nothing."""
    ray, hit = slanting()
    dense = TRAVEL._replace(media=Media(f(2), f(1), f(1), f(1)))
    onward, travel = in_python(passed_through)(
        optics(TRANSMISSION=0.9, INDEX=2.0), ray, hit._replace(nz=f(-1)), dense, f(30.0)
    )
    assert tuple(onward)[3:6] == pytest.approx((0.6, 0, 0.8), abs=1e-6)
    assert flat(travel) == pytest.approx([0.5, 14.0, 3.0, *dense.media, 0.0, 3.0, 0.125], rel=1e-6)
    assert onward.far == pytest.approx(16.0 / 2)


def beam(weights: list[float], *, half: float = 0.01, probes: int | None = None, **tables: Any) -> Any:
    firing = SimpleNamespace(
        weights=np.array(weights, f), half_width=f(half), half_height=f(4 * half),
        probes=len(weights) if probes is None else probes,
    )  # fmt: skip
    known = SimpleNamespace(**({"bends": False, "leaves": True, "optics": np.zeros((0, 10), f)} | tables))
    receiving = SimpleNamespace(echoes=True, bounces=3, media=WATER, max_range=f(100.0))
    return SimpleNamespace(firing=firing, receiving=receiving, around=SimpleNamespace(tables=known))


@pytest.mark.parametrize("first", [0.0, 7.0])
def test_a_leaf_lets_a_ray_straight_on_as_far_as_it_matters(first: float) -> None:
    """Where 1/64 finds back: E/(1 + 0.8 s/a + 3s²/a²) = 1/64, a the radius of the spot on the first leaf."""
    ray, hit = slanting()
    scanning, travel = beam([0.5, 0.5]), TRAVEL._replace(leaf=f(first), energy=f(0.8))
    onward, behind = in_python(let_through)(optics(LEAF=0.7), ray, hit, travel, scanning)
    leaf, left = first or 10.25, 0.8 * 0.49
    radius = leaf * math.sqrt(0.01 * 0.04)
    depth = max(np.roots([3, 0.8, 1 - 64 * left]).real) * radius
    assert tuple(onward)[:6] == pytest.approx((4, 2, 0, 0.6, 0, -0.8), abs=1e-6)
    assert onward.far == pytest.approx((leaf + depth - 10.25) / 1.25, rel=1e-4)
    assert flat(behind) == pytest.approx([left, 10.25, 3.0, *WATER, leaf, 3.0, 0.125], rel=1e-6)
    scanning.receiving.max_range = f(10.3)
    near, _ = in_python(let_through)(optics(LEAF=1.0), ray, hit, TRAVEL._replace(leaf=f(10.2)), scanning)
    assert near.far == pytest.approx(0.05 / 1.25, rel=1e-3), "no further than the sensor"


def test_light_goes_through_leaves_of_a_beam_with_width_that_is_heard_as_a_waveform() -> None:
    through = in_python(through_leaves)
    assert through(beam([0.5, 0.5]))
    assert (
        not through(beam([1.0]))
        and not through(beam([0.5, 0.5], half=0.0))
        and not through(beam([0.5, 0.5], leaves=False))
    )
    hits = beam([0.5, 0.5])
    hits.receiving.echoes = False
    assert not through(hits)


def test_light_goes_on_where_anything_lets_it_and_bounces_are_allowed() -> None:
    goes = in_python(may_go_on)
    assert goes(beam([0.5, 0.5])) and goes(beam([1.0], bends=True)) and not goes(beam([1.0]))
    for bounces, wanted in ((1, True), (0, False)):
        scanning = beam([0.5, 0.5], bends=True)
        scanning.receiving.bounces = bounces
        assert goes(scanning) == wanted


def test_one_sub_ray_in_sixteen_goes_through_leaves_for_all() -> None:
    """Numbers 0, 16 and 32 of 40; of adaptive beams those among the probes."""
    weights = np.linspace(1, 3, 40)
    for probes, mine in ((40, [0, 16, 32]), (33, [0, 16, 32]), (32, [0, 16]), (8, [0])):
        scanning = beam(weights.tolist(), probes=probes)
        share = in_python(stands_for)(scanning)
        assert share == pytest.approx(weights.sum() / weights[mine].sum(), rel=1e-6)
        for k in range(40):
            travel = in_python(setting_out)(scanning, k, f(0.25), share)
            assert tuple(travel) == (1, 0, 0, WATER, 0, share if k in mine else 0, 0.25)
    assert in_python(stands_for)(beam(weights.tolist(), leaves=False)) == 0


@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("special", [0, 1])
@pytest.mark.parametrize(("column", "value", "bends"), [
    (MIRROR, 0.5, True), (TRANSMISSION, 0.5, True), (GLOSS, 0.5, True), (LEAF, 0.5, True), (LEAF, 0.5, False), (LEAF, 0.0, False),
])  # fmt: skip
def test_a_packet_is_followed_where_a_ray_met_something_that_it_goes_on_from(
    column: int, value: float, along: bool, bends: bool, special: int
) -> None:
    """Leaves count for the sub-rays that go through them: number 16, which is in lane 4 of a packet that begins with 12."""
    rows = np.zeros((2, 10), f)
    rows[special, column] = value
    asks = in_python(anything_goes_on)
    for lane in range(9):
        packet = new_packet()
        packet.materials[:9] = 1 - special
        packet.materials[lane] = special
        for materials in (packet.materials.copy(), np.where(np.arange(LANES) == lane, special, -1)):
            packet.materials[:] = materials
            if along:
                mine = column == LEAF and lane == 4
                found = asks(beam([1.0] * 40, optics=rows, bends=bends), packet, Part(True, 0, 12, 9), 1)
            else:
                mine = column == LEAF
                found = asks(beam([1.0] * 40, optics=rows, bends=bends), packet, Part(False, 0, 16, LANES), 9)
            assert bool(found) == (value > 0 and (mine or (bends and column != LEAF))), lane
        packet.materials[:] = special
        assert not asks(beam([1.0] * 40, optics=rows, bends=bends), packet, Part(True, 3, 12, 9), 3), (
            "a pulse that is none"
        )
        other = Part(False, 0, 17, LANES)
        assert bool(asks(beam([1.0] * 40, optics=rows, bends=bends), packet, other, 9)) == (bends and column != LEAF)


def waiting_behind(row: np.ndarray, travel: Travel, bounces: int = 4) -> tuple[int, Any]:
    """How many rays go on from a hit on a surface, and the stack with them; two waited already."""
    ray, hit = slanting()
    packet, waiting = new_packet(), new_waiting()
    in_python(load_ray)(packet, 5, ray, NOTHING)
    in_python(set_hit)(packet, 5, hit)
    scanning = beam([0.5, 0.5], optics=row[None])
    scanning.receiving.bounces = bounces
    count = in_python(follow._go_on)(scanning, packet, 5, travel, 11, waiting, 2)
    return count, waiting


def test_what_goes_on_waits_on_the_stack_as_it_is() -> None:
    """A mirror, glass and a leaf at once: three rays, of the pulse in lane 11."""
    row = optics(MIRROR=0.3, TRANSMISSION=0.4, LEAF=0.5, INDEX=1.5)
    count, waiting = waiting_behind(row, TRAVEL._replace(leaf=f(10.2)))
    assert count == 5 and waiting.lanes[2:5].tolist() == [11] * 3 and waiting.lanes[5] == 0
    ray, hit = slanting()
    hit, travel = hit._replace(distance=f(5)), TRAVEL._replace(leaf=f(10.2))
    ray = ray._replace(far=f(5))
    made = [
        in_python(mirrored)(row, ray, hit, travel, f(100)), in_python(passed_through)(row, ray, hit, travel, f(100)),
        in_python(let_through)(row, ray, hit, travel, beam([0.5, 0.5])),
    ]  # fmt: skip
    for at, (onward, behind) in zip((2, 3, 4), made, strict=True):
        assert tuple(in_python(follow._ray_in)(waiting.numbers[at])) == pytest.approx(tuple(onward), rel=1e-6, abs=1e-7)
        assert flat(in_python(follow._travel_in)(waiting.numbers[at])) == pytest.approx(flat(behind), rel=1e-6)


def test_where_a_ray_ends() -> None:
    """After so many surfaces, with a ten-thousandth of its light, or behind leaves that it does not go through."""
    mirror, glass, leaf = optics(MIRROR=1.0), optics(TRANSMISSION=1.0), optics(LEAF=1.0)
    for row in (mirror, glass, leaf):
        assert waiting_behind(row, TRAVEL, bounces=3)[0] == 3
        assert waiting_behind(row, TRAVEL, bounces=2)[0] == 2
    for row in (mirror, glass):
        assert waiting_behind(row, TRAVEL._replace(energy=f(1e-4)))[0] == 2
        assert waiting_behind(row, TRAVEL._replace(energy=np.nextafter(f(1e-4), f(1))))[0] == 3
        assert waiting_behind(row / 2, TRAVEL._replace(energy=f(3e-4)))[0] == 2, "it is passed twice"
    assert waiting_behind(leaf, TRAVEL._replace(stands_for=f(0)))[0] == 2
    assert waiting_behind(leaf, TRAVEL._replace(energy=f(1 / 64)))[0] == 2, "no way that matters is left"
    assert extra_hits(1) == 24 and extra_hits(9) == 88


def test_the_spot_on_a_leaf_is_a_disc_of_its_size() -> None:
    assert in_python(follow._spot_at)(beam([1.0, 1.0]), f(8.0)) == pytest.approx(8 * 0.02)
