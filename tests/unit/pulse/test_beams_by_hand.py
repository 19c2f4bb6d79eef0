"""Beams that are torn, that end in volumes, that meet what responds, and what the sun does: step by step, with numbers of our own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.pulse import adaptive, sunlight, vegetation, volumes
from tussock.pulse.adaptive import finish_lanes, off_plane
from tussock.pulse.immersed import media_around, media_differ
from tussock.pulse.sub_rays import apart_in_groups
from tussock.pulse.sunlight import SKY, sun_at
from tussock.pulse.tables import Ended, Hits, Lot, Part
from tussock.pulse.volumes import new_ended
from tussock.randomness import chance_of
from tussock.rebound import in_python
from tussock.signal.media import AIR, Media
from tussock.trace.hit_tables import INDEX, LEAF, TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet, set_hit
from tussock.trace.ray import Hit, Ray

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of chance and of empty lanes, as plain Python
f = np.float32
PLACES = 0.01 * np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [0.7, 0.7]])


def torn(depths: np.ndarray, met: np.ndarray | None = None, ids: np.ndarray | None = None) -> list[int]:
    """Which of sixteen pulses of six probes are torn, that met things at these depths (6, lanes) of the objects (3, 6, lanes); σ is 0.4 m."""
    stencil = np.concatenate([np.ones((6, 1)), PLACES], 1)
    stencil = (stencil / np.linalg.norm(stencil, axis=1, keepdims=True)).astype(f)
    ranges = (depths / stencil[:, :1]).astype(f)
    energies = np.ones((6, LANES), f) if met is None else met.astype(f)
    hits = Hits(ranges, energies, np.zeros((3, 6, LANES), np.uint32) if ids is None else ids, np.full(LANES, 6))
    firing = SimpleNamespace(off_plane=off_plane(stencil), probes=6, stencil=stencil)
    scanning: Any = SimpleNamespace(firing=firing, receiving=SimpleNamespace(listening=SimpleNamespace(sigma=f(0.4))))
    probed = SimpleNamespace(torn=np.full(LANES, 5, np.int32), inverse=np.zeros((6, LANES), f))
    in_python(adaptive._find_torn)(
        scanning, SimpleNamespace(hits=hits, probed=probed), Lot(0, 1, LANES, chance_of(1, 0))
    )
    assert set(probed.torn.tolist()) <= {0, 1}
    return [int(x) for x in probed.torn]


def test_a_spot_on_one_plane_is_whole_and_one_across_a_step_is_torn() -> None:
    """Off the plane by a twentieth of σ, 2 cm, and no more: of six depths that share a plane one is moved."""
    slope = 10 / (1 + PLACES @ [0.5, -0.8])
    depths = np.repeat(slope[:, None], LANES, 1)
    assert torn(depths) == [0] * LANES
    left = (
        1 - off_plane(np.concatenate([np.ones((6, 1)), PLACES], 1).astype(f))[5, 5]
    )  # of a step at the last the plane takes its part
    for lane, share in ((3, 0.9), (4, 1.1), (5, -0.9), (6, -1.1)):
        depths[5, lane] += share * 0.02 / (1 - left)
    assert torn(depths) == [int(lane in (4, 6)) for lane in range(LANES)]


def test_a_spot_on_two_things_or_half_in_the_open_is_torn() -> None:
    """Another object or another copy of it; another triangle is none. Where all sixteen met nothing no more is asked."""
    depths, met, ids = np.full((6, LANES), 10.0), np.ones((6, LANES)), np.zeros((3, 6, LANES), np.uint32)
    ids[0, 2, 1] = ids[2, 3, 2] = ids[1, 4, 3] = ids[0, :, 4] = 7
    met[5, 6] = met[0, 7] = met[:, 8] = 0
    assert torn(depths, met, ids) == [0, 1, 1, 0, 0, 0, 1, 1, 1] + [0] * 7
    assert torn(depths, np.zeros((6, LANES))) == [0] * LANES
    one = np.zeros((6, LANES))
    one[3, 9] = 1
    assert torn(depths, one) == [1] * LANES, "beside one that met something the open may be torn"


def test_probes_stand_for_the_others_where_the_spot_is_whole() -> None:
    """Energies of the first two of five sub-rays: times what they stand for, and of the others nothing; torn lanes are traced."""
    energies = np.arange(5 * LANES, dtype=f).reshape(5, LANES) + 1
    hits = SimpleNamespace(energies=energies.copy())
    firing = SimpleNamespace(probes=2, stencil=np.zeros((5, 3)), stand_for=np.array([2.5, 1.5], f))
    receiving = SimpleNamespace(max_range=f(60), media=Media(f(1.5), f(1), f(1), f(1)))
    scanning: Any = SimpleNamespace(firing=firing, receiving=receiving)
    scratch: Any = SimpleNamespace(hits=hits, probed=SimpleNamespace(torn=np.zeros(LANES, np.int32)))
    traced = []
    names = dict(finish_lanes.py_func.__globals__)
    names |= {
        "_find_torn": lambda scanning, scratch, lot: scratch.probed.torn.__setitem__([3, 9], 1),
        "_trace_others": lambda scanning, scratch, lot, lane, reach: traced.append((lane, float(reach))),
    }  # fmt: skip
    type(finish_lanes.py_func)(finish_lanes.py_func.__code__, names)(scanning, scratch, Lot(0, 1, 9, chance_of(1, 0)))
    factors = np.tile([[2.5], [1.5]], LANES)
    factors[:, [3, 9]] = 1
    np.testing.assert_allclose(hits.energies[:2], energies[:2] * factors)
    assert not hits.energies[2:].any()
    assert traced == [(3, 40.0)], "of the pulses that there are"


def volume_tables(gap: float = 0.5, first: int = 2) -> Any:
    """Two copies of volumes, whose geometries are 2 and 3; energies by the number of the volume."""
    known = SimpleNamespace(intensity=np.array([0.1, 0.2, 0.4, 0.8], f), gap=np.array([gap], f))
    volumes_ = SimpleNamespace(
        gaussians=known,
        model=np.zeros(2, np.int64),
        geometry=np.array([2, 3], np.uint32),
        number=np.array([4, 5], np.uint32),
    )
    tables = SimpleNamespace(
        first_volume=first, geometry_material=np.zeros(9, np.int32), primitives=np.zeros(0, np.uint16),
        optics=np.array([[0.5, 0, 1, 0, 0, 0, 1, 0, 0, 0]], f),
    )  # fmt: skip
    return SimpleNamespace(volumes=volumes_, tables=tables)


def ended_at(rows: dict[int, list[tuple[float, int, int]]]) -> Ended:
    """Where the beams of some lanes end: range, volume and copy of their returns."""
    ended = new_ended()
    for lane, returns in rows.items():
        ended.returns[lane] = len(returns)
        for row, (distance, volume, copy) in enumerate(returns):
            ended.distances[row, lane], ended.volumes[row, lane], ended.copies[row, lane] = distance, volume, copy
    return ended


def stopped(
    rows: dict[int, list[tuple[float, int, int]]], part: Part, lanes: int, surface: float = 20.0
) -> tuple[Any, Any]:
    """A packet of rays along −y that met a surface facing them, ended in volumes, and the hits that were added."""
    packet = new_packet()
    for l in range(LANES):
        in_python(load_ray)(packet, l, Ray(*map(f, (0, 0, 0, 0, -1, 0, 0, 50, 0))), NOTHING)
        hit = Hit(f(surface), f(0), f(1), f(0), f(0.2), f(0.3), np.uint32(1), np.uint32(6), np.uint32(7), np.int32(0))
        in_python(set_hit)(packet, l, hit)
    limit = SimpleNamespace(far=f(0), near=f(0))
    receiving = SimpleNamespace(
        media=Media(f(2), f(1), f(1), f(1)),
        limit=limit,
        loss_reference=f(0),
        extinction=f(0),
        listening=SimpleNamespace(separation=f(0.75)),
    )
    hits = Hits(np.zeros((6, LANES), f), np.zeros((6, LANES), f), np.zeros((3, 6, LANES), np.uint32), np.full(LANES, 3))
    scratch: Any = SimpleNamespace(packet=packet, ended=ended_at(rows), hits=hits)
    scanning: Any = SimpleNamespace(around=volume_tables(), receiving=receiving)
    in_python(volumes.stop_lanes)(scanning, scratch, part, lanes)
    return packet, hits


def test_a_ray_ends_where_its_beam_does_unless_a_surface_is_nearer() -> None:
    """As a hit on something that faces it: geometry and number of the copy, the volume for a primitive."""
    rows = {0: [(12.0, 2, 1)], 1: [(20.0, 2, 1)], 2: [(25.0, 2, 1)], 4: [(19.5, 0, 0)], 5: [(3.0, 1, 1)]}
    packet, hits = stopped(rows, Part(False, 0, 1, LANES), 5)
    for lane in range(LANES):
        hit = in_python(hit_at)(packet, lane)
        if lane in (0, 4):
            assert tuple(hit) == (
                pytest.approx(rows[lane][0][0]), 0, 1, 0, 0, 0, 2 + rows[lane][0][2], rows[lane][0][1], 4 + rows[lane][0][2], 0,
            )  # fmt: skip
        else:
            assert (hit.distance, hit.geometry, hit.primitive) == (20.0, 1, 6), lane
    assert (hits.used == 3).all()
    packet, _ = stopped({3: [(12.0, 2, 1)]}, Part(True, 3, 5, 4), 5)
    assert [float(in_python(hit_at)(packet, l).distance) for l in range(6)] == [12] * 4 + [20] * 2


@pytest.mark.parametrize(("second", "added"), [
    ((15.0, 3, 1), (15.0, 0.2, 3, 3, 5)), ((25.0, 3, 1), (20.0, 0.2, 1, 6, 7)), ((25.0, -1, 1), (20.0, 0.2, 1, 6, 7)),
    ((12.75, 0, 0), (12.75, 0.05, 2, 0, 4)), ((12.74, 0, 0), None), ((13.0, 1, 1), (13.0, 0.1, 3, 1, 5)), ((-3.0, -1, 0), (20.0, 0.2, 1, 6, 7)),
])  # fmt: skip
def test_a_second_return_is_of_what_is_nearer_behind_and_half_of_what_it_sends(
    second: tuple, added: tuple | None
) -> None:
    """Volume or surface, no brighter than the first (0.4), 0.75 m behind it at least; paths are twice as long in a medium of 2."""
    rows = {2: [(12.0, 2, 1), second]}
    _, hits = stopped(rows, Part(False, 0, 0, LANES), LANES)
    assert hits.used.tolist() == [3 + (lane == 2 and added is not None) for lane in range(LANES)]
    if added is not None:
        distance, energy, *ids = added
        assert hits.ranges[3, 2] == pytest.approx(2 * distance) and hits.energies[3, 2] == pytest.approx(energy)
        assert hits.ids[:, 3, 2].tolist() == ids
    _, hits = stopped(rows, Part(False, 0, 1, LANES), LANES)
    assert (hits.used == 3).all(), "the first sub-ray alone says what is behind"


def test_a_ray_goes_on_behind_what_it_met() -> None:
    """Half a millionth of its coordinates and its way further, a tenth of a millimetre at least."""
    ray = Ray(*map(f, (-1000, 2000, -3000, 0, 0, 1, 0.5, 90, 0.25)))
    on = in_python(vegetation._behind)(ray, f(500), f(70))
    assert tuple(on) == (-1000, 2000, -3000, 0, 0, 1, pytest.approx(500 + 5e-7 * 6500, rel=1e-6), 70, 0.25)
    near = in_python(vegetation._behind)(ray._replace(x=f(1), y=f(2), z=f(3)), f(5), f(70))
    assert near.near == pytest.approx(5.0001)


def test_what_responds_is_seen_past_by_its_bit() -> None:
    scanning: Any = SimpleNamespace(
        around=SimpleNamespace(tables=SimpleNamespace(geometry_bit=np.array([0, 4, 1], np.uint32)))
    )
    assert [int(in_python(vegetation._others)(scanning, k)) for k in range(3)] == [0xFFFFFFFF, 0xFFFFFFFB, 0xFFFFFFFE]


@pytest.mark.parametrize(("reference", "factor"), [(0.0, 1.0), (1.0, (10 / 12) ** 2)])
def test_a_hit_that_is_moved_has_the_energy_of_its_new_place(reference: float, factor: float) -> None:
    hits = Hits(np.full((2, LANES), 10, f), np.full((2, LANES), 0.5, f), np.zeros((3, 2, LANES)), np.zeros(LANES))
    scanning: Any = SimpleNamespace(receiving=SimpleNamespace(min_range=f(1), loss_reference=f(reference)))
    in_python(vegetation._spread)(scanning, hits, f(2), f(np.inf), 1, 5)
    assert hits.ranges[1, 5] == 12 and hits.energies[1, 5] == pytest.approx(0.5 * factor)
    in_python(vegetation._spread)(scanning, hits, f(-20), f(np.inf), 1, 6)
    in_python(vegetation._spread)(scanning, hits, f(20), f(11), 0, 6)
    assert hits.ranges[:, 6].tolist() == [11, 1] and (hits.ranges[:, 7] == 10).all()


@pytest.mark.parametrize(("azimuth", "elevation", "wanted"), [
    (0.0, 0.0, (1, 0, 0, 0, 0)), (90.0, 0.5, (0, 0.99996, 0.00873, 1, SKY)), (180.0, 90.0, (0, 0, 1, 1, SKY)),
    (-90.0, 30.0, (0, -0.86603, 0.5, 1, SKY)), (270.0, -10.0, (0, -0.98481, -0.17365, 0, 0)), (45.0, 1.0, (0.707, 0.707, 0.01745, 1, SKY)),
])  # fmt: skip
def test_where_the_sun_is(azimuth: float, elevation: float, wanted: tuple[float, ...]) -> None:
    """Above the horizon it shines, from the first hundredth of a degree on."""
    assert tuple(map(float, sun_at(azimuth, elevation))) == pytest.approx(wanted, abs=2e-4)


def test_each_worker_lights_its_own_parts_and_all_of_them_once() -> None:
    """32 groups of sixteen pulses at a time, one part after the other; the last is not a whole one."""
    names = dict(sunlight._fill.py_func.__globals__)
    for pulses in (1, 16, 511, 512, 513, 1600):
        for workers in (1, 2, 3):
            lit: list[int] = []
            names |= {
                "stand": lambda *_: None, "aim_origins": lambda *_: None, "aim_lanes": lambda *_: None,
                "_light_lanes": lambda scanning, sun, first, out, room, lit=lit: lit.append(first),
            }  # fmt: skip
            fill = type(sunlight._fill.py_func)(sunlight._fill.py_func.__code__, names)
            each = []
            for worker in range(workers):
                scanning = SimpleNamespace(poses=None, firing=None, chance=None)
                fill(worker, workers, scanning, None, np.zeros(pulses), SimpleNamespace(turn=None, aim=None))
                each.append(len(lit))
            assert sorted(lit) == list(range(0, pulses, 16))
            if pulses == 1600 and workers == 2:
                assert each == [64, 100]


def test_a_ray_to_the_sun_starts_on_its_side_of_the_surface() -> None:
    """A millimetre off, or half a millionth of its coordinates; the normal may look either way and be of any length."""
    sun = sun_at(0.0, 90.0)
    for nz in (2.0, -2.0, 0.5):
        hit = Hit(f(5), f(0), f(0), f(nz), f(0), f(0), np.uint32(0), np.uint32(0), np.uint32(0), np.int32(0))
        for at, lift in ((0.0, 1e-3), (-4000.0, 2e-3)):
            ray = Ray(*map(f, (at, 2, 4, 0.6, 0, -0.8, 0, 60, 0.75)))
            on = in_python(sunlight._to_the_sun)(ray, hit, sun)
            assert tuple(on)[:3] == (
                pytest.approx(at + 3),
                2,
                pytest.approx(lift * 3997 / 4000 if at else lift, rel=1e-3),
            )
            assert tuple(on)[3:] == (*tuple(sun)[:3], 0, np.inf, 0.75)


def test_air_is_all_there_is_where_no_glass_is_denser() -> None:
    """A pane that is modelled as one sheet has the index of air, and what is opaque lets nothing through."""
    rows = np.zeros((3, 10), f)
    rows[:, INDEX] = 1
    tables = SimpleNamespace(optics=rows)
    around: Any = SimpleNamespace(tables=tables)
    for row, (through, index), wanted in ((0, (0.9, 1.0), False), (1, (0.0, 1.5), False), (2, (0.9, 1.5), True)):
        rows[row, TRANSMISSION], rows[row, INDEX], rows[row, LEAF] = through, index, 0.5
        assert media_differ(around) == wanted
        if not wanted:
            assert media_around(around, np.zeros(3)) is AIR


def test_as_many_as_256_lasers_take_turns() -> None:
    """More are looked for in vain: their pulses are as far apart as those of one round."""
    for lasers, apart in ((255, 255), (256, 256), (257, 1), (2, 2)):
        assert apart_in_groups(np.tile(np.arange(lasers, dtype=np.uint16), 3), 1) == apart
    assert apart_in_groups(np.array([4, 4], np.uint16), 1) == 1
    assert apart_in_groups(np.array([4, 5], np.uint16), 1) == 1
    assert apart_in_groups(np.array([4, 5, 4], np.uint16), 1) == 2
