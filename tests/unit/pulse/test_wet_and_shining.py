"""What comes back of sixteen rays at once from surfaces that shine or are wet: as of each ray by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.pulse.reflect import _find_energies, returned_energy
from tussock.rebound import in_python
from tussock.signal.detection import Limit
from tussock.trace import packets
from tussock.trace.hit_tables import DIFFUSE, FILM, RETRO, SHININESS, SPECULAR
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet, ray_at
from tussock.trace.ray import Ray

f = np.float32


def packet_with(materials: np.ndarray, rng: np.random.Generator) -> Any:
    """Rays that met surfaces at all angles and distances; those of a material below 0 met nothing."""
    packet = new_packet()
    for l, material in enumerate(materials):
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        load_ray(
            packet, l, Ray(*map(f, (0, 0, 0, *way, 0, np.inf if material < 0 else rng.uniform(2, 80), 0))), NOTHING
        )
        for row, number in zip((packets._NG_X, packets._NG_Y, packets._NG_Z), rng.normal(size=3), strict=True):
            packet.numbers[row + l] = f(number)
    packet.materials[:], packet.bits[packets._GEOM : packets._GEOM + LANES] = materials, 0
    return packet


@pytest.mark.parametrize(("reference", "extinction"), [(0.0, 0.0), (30.0, 0.0), (0.0, 0.01), (20.0, 0.02)])
@pytest.mark.parametrize("shining", [False, True])
def test_sixteen_rays_at_once_are_as_each_by_itself(reference: float, extinction: float, shining: bool) -> None:
    """Dry and wet ones, a lobe, a reflector, all of it together, and nothing: the same bits."""
    rng = np.random.default_rng(4)
    optics = np.zeros((6, 10), f)
    optics[:, DIFFUSE] = 0.3, 0.2, 0.5, 0.1, 0.0, 0.4
    optics[1:3, FILM] = 1.0, 0.35
    optics[3:, [SPECULAR, SHININESS]] = [(0.3, 4.0), (0.0, 1.0), (0.2, 7.0)]
    optics[4:, RETRO], optics[5, FILM] = 0.8, 0.7
    around = SimpleNamespace(
        tables=SimpleNamespace(optics=optics, shines=True, first_volume=NOTHING), volumes=SimpleNamespace(model=[])
    )
    receiving = SimpleNamespace(
        media=SimpleNamespace(inner=f(1)),
        limit=Limit(f(0), f(0), f(0), f(0)),
        loss_reference=f(reference),
        extinction=f(extinction),
    )
    materials = np.arange(LANES, dtype=np.int32) % (7 if shining else 4) - 1
    packet, used = packet_with(materials, rng), 14
    weights, energies = rng.uniform(0.1, 1, LANES).astype(f), np.full(LANES, 9, f)
    scratch: Any = SimpleNamespace(packet=packet, weights=weights, energies=energies, films=np.zeros(LANES, f))
    scanning: Any = SimpleNamespace(around=around, receiving=receiving)
    in_python(_find_energies)(scanning, scratch, used)
    alone: Any = in_python(returned_energy)
    for l in range(used):
        ray, hit = in_python(ray_at)(packet, l), in_python(hit_at)(packet, l)
        wanted = weights[l] * alone(around, receiving, ray, hit, hit.distance)
        assert energies[l] == wanted, (l, materials[l])
        assert (wanted > 0) == (materials[l] >= 0)
