"""A shape of fewer triangles, for the eye: what is one surface is made coarser, what is many small parts is thinned.

A tree's leaves and a tile's blades are thousands of small surfaces that hang together by nothing. Each becomes a card, a
kite as long as the part and of the area that is seen of it; where there are more parts than room, some are chosen, and these are
enlarged so that the area stays what it was (Cook, Halstead, Planck and Ryu, "Stochastic simplification of aggregate detail",
SIGGRAPH 2007). A large surface (a trunk, a wall, the ground) keeps its form: its corners are joined in the cells of a grid
(Rossignac and Borrel, "Multi-resolution 3D approximations for rendering complex scenes", 1993).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.sampler import Sampler
from tussock.scene.mesh import Mesh

__all__ = ["Surface", "simpler"]

_SMALL = 128
"""triangles of a part that a card may stand for"""
_TOO_MANY = 3_000_000
"""triangles from which a shape is not taken apart any more: it would take longer than it is looked at"""
_LEAST_SHARE = 0.04
"""of the triangles, for each material's small and large parts"""
_LONGEST, _WIDEST = 6.0, 12.0
"""how much longer and wider a card becomes at most"""
_FORM = 12
"""triangles that a large part needs to keep its form; thin ones that have fewer become cards too"""
_BLADE = 6.0
"""length over width from which a part is a blade, which may become wider, but no longer"""


class Surface(NamedTuple):
    """Triangles of one material."""

    vertices: NDArray[np.float32]
    """[m], the shape's own coordinates, shape (n, 3)"""
    triangles: NDArray[np.uint32]
    """shape (m, 3)"""
    material: int
    """index into the mesh's materials"""
    uv: NDArray[np.float32] | None = None
    """texture coordinates of the corners, shape (n, 2), where the shape is whole and its material has a picture"""


def simpler(mesh: Mesh, most: int) -> list[Surface]:
    """The shape in about ``most`` triangles, one surface a material."""
    vertices = np.asarray(mesh.vertices, np.float32)
    triangles, owner = mesh.triangles.astype(np.int64), mesh.material_of_triangles
    if len(triangles) <= most:
        pieces = [(triangles[owner == k], k) for k in range(len(mesh.materials))]
        return [_alone(mesh, vertices, chosen, k) for chosen, k in pieces if len(chosen)]
    part = np.zeros(len(triangles), np.int64)
    sizes = np.array([len(triangles)])
    if len(triangles) <= _TOO_MANY:
        part = _parts(triangles, len(vertices))
        sizes = np.bincount(part)
    small = sizes[part] <= _SMALL
    # By the area that the eye sees: a fine tree has more triangles, and more bark around its twigs, than leaves.
    seen = _seen(vertices, triangles, part)
    groups = [
        _Group(k, small_ones, triangles[chosen], part[chosen], seen[chosen])
        for k in range(len(mesh.materials))
        for small_ones, chosen in ((True, (owner == k) & small), (False, (owner == k) & ~small))
        if chosen.any()
    ]
    shares = np.array([float(group.seen.sum()) for group in groups])
    shares = np.maximum(shares / max(float(shares.sum()), 1e-30), _LEAST_SHARE)
    rooms = [max(int(most * share), 1) for share in shares / shares.sum()]
    cards = [_thinned(vertices, group, room) for group, room in zip(groups, rooms, strict=True)]
    # A card may not grow without end. What the leaves cannot cover then, the twigs between them must not cover for them.
    covered = max((one for one in cards if one is not None), key=lambda one: one.seen, default=None)
    found: list[Surface] = []
    for group, room, one in zip(groups, rooms, cards, strict=True):
        if one is None or covered is None:
            surface = _joined(vertices, group.triangles, room)
        else:
            surface = one.kites(covered.most_covered)
        if len(surface[1]):
            found.append(Surface(*surface, group.material))
    return found


class _Group(NamedTuple):
    """Triangles of one material that are made simpler in one way."""

    material: int
    small: bool
    """whether its parts are"""
    triangles: NDArray[np.int64]
    part: NDArray[np.int64]
    seen: NDArray[np.float64]
    """[m²] of each triangle"""


def _seen(vertices: NDArray[np.float32], triangles: NDArray[np.int64], part: NDArray[np.int64]) -> NDArray[np.float64]:
    """Area of each triangle [m²] that a card for its part has: all of a leaf's, of a twig's its width and not its girth.

    The normals of a flat part add up, those around a tube cancel.
    """
    corners = vertices[triangles].astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    areas = np.linalg.norm(normals, axis=1)
    sums = np.stack([np.bincount(part, normals[:, k]) for k in range(3)], 1)
    whole = np.bincount(part, areas)
    flat = np.linalg.norm(sums, axis=1) / np.maximum(whole, 1e-30)
    return np.asarray(areas * np.maximum(flat, 1 / np.pi)[part], np.float64)


def _alone(mesh: Mesh, vertices: NDArray[np.float32], triangles: NDArray[np.int64], material: int) -> Surface:
    used, corners = np.unique(triangles, return_inverse=True)
    pictured = mesh.uv is not None and mesh.materials[material].texture is not None
    uv = mesh.uv[used] if mesh.uv is not None and pictured else None
    return Surface(vertices[used], corners.reshape(-1, 3).astype(np.uint32), material, uv)


def _parts(triangles: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Which part each triangle belongs to: parts share no corner. Shape (m,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = triangles.T
    ones = np.ones(2 * len(a), np.int8)
    graph = coo_matrix((ones, (np.concatenate([a, b]), np.concatenate([b, c]))), shape=(count, count))
    _, number = connected_components(graph, directed=False)
    return np.asarray(np.unique(number[a], return_inverse=True)[1], np.int64)


class _Thinned(NamedTuple):
    """Some parts of many, for all of which kites stand."""

    middle: NDArray[np.float64]
    along: NDArray[np.float64]
    across: NDArray[np.float64]
    length: NDArray[np.float64]
    """[m]"""
    width: NDArray[np.float64]
    """[m] of a kite of the part's own area"""
    seen: float
    """[m²] of all parts"""
    more: float
    """how many times the area of those that are kept that is"""
    most_covered: float
    """the share of the area of all that kites can have"""

    def kites(self, covered: float) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """Kites of two triangles that have a share of the area of all."""
        more = max(self.more * min(covered, self.most_covered), 1.0)
        longer, wider = _enlarged(self.length > _BLADE * self.width, more)
        # The tip is above: a blade is widest near its foot.
        up = np.where(self.along[:, 2:] < 0, -self.along, self.along)
        half = up * (self.length * longer / 2)[:, None]
        side = self.across * (self.width * wider / 2)[:, None]
        waist = self.middle - 0.3 * half
        corners = np.stack([self.middle - half, waist + side, self.middle + half, waist - side], 1)
        first = 4 * np.arange(len(corners))[:, None]
        faces = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
        return corners.reshape(-1, 3).astype(np.float32), faces.astype(np.uint32)


def _enlarged(blade: NDArray[np.bool_], more: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much longer and wider kites become for ``more`` times their area, if they may."""
    longer = np.where(blade, 1.0, min(np.sqrt(more), _LONGEST))
    return longer, np.minimum(more / longer, _WIDEST)


def _thinned(vertices: NDArray[np.float32], group: _Group, room: int) -> _Thinned | None:
    """As many of the parts, by chance, as there is room for kites; None where they are better joined."""
    names, part = np.unique(group.part, return_inverse=True)
    if not group.small and room >= _FORM * len(names):
        return None
    area = np.bincount(part, group.seen)
    kept = Sampler("triangles that are kept", 0).permutation(len(names))[: max(room // 2, 1)]
    more = float(area.sum() / max(area[kept].sum(), 1e-30))
    place = np.full(len(names), -1)
    place[kept] = np.arange(len(kept))
    chosen = place[part] >= 0
    points = vertices[group.triangles[chosen]].astype(np.float64).reshape(-1, 3)
    middle, along, across, length = _axes(points, np.repeat(place[part[chosen]], 3), len(kept))
    width = 2 * area[kept] / np.maximum(length, 1e-9)
    if not group.small and (length <= _BLADE * width).any():
        return None
    longer, wider = _enlarged(length > _BLADE * width, more)
    most = float((longer * wider * area[kept]).sum() / max(more * area[kept].sum(), 1e-30))
    return _Thinned(middle, along, across, length, width, float(area.sum()), more, most)


def _axes(
    points: NDArray[np.float64], owner: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Middle, longest and next axis, each (count, 3), and the length along the first, of sets of points."""
    number = np.bincount(owner, minlength=count)
    middle = np.stack([np.bincount(owner, points[:, k], count) for k in range(3)], 1) / number[:, None]
    off = points - middle[owner]
    spread = np.empty((count, 3, 3))
    for i in range(3):
        for j in range(3):
            spread[:, i, j] = np.bincount(owner, off[:, i] * off[:, j], count)
    axes = np.linalg.eigh(spread)[1]
    along, across = axes[:, :, 2], axes[:, :, 1]
    where = (off * along[owner]).sum(1)
    low, high = np.zeros(count), np.zeros(count)
    np.minimum.at(low, owner, where)
    np.maximum.at(high, owner, where)
    return middle + along * ((low + high) / 2)[:, None], along, across, high - low


def _joined(
    vertices: NDArray[np.float32], triangles: NDArray[np.int64], room: int
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """The surface with its corners joined in the cells of the finest grid that gives few enough triangles."""
    used, corners = np.unique(triangles, return_inverse=True)
    points, corners = vertices[used].astype(np.float64), corners.reshape(-1, 3)
    if len(corners) <= room:
        return points.astype(np.float32), corners.astype(np.uint32)
    low = points.min(0)
    a, b, c = (points[corners[:, k]] for k in range(3))
    area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    cell = max(np.sqrt(area / room), 1e-6)
    for _ in range(24):
        keys = np.floor((points - low) / cell).astype(np.int64)
        span = keys.max(0) + 1
        _, at = np.unique((keys[:, 0] * span[1] + keys[:, 1]) * span[2] + keys[:, 2], return_inverse=True)
        faces = at[corners]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
        faces = faces[whole]
        if len(faces) <= room:
            break
        cell *= 1.3
    # Of the corners of a cell the one farthest out stands for all, so that the edges of ground and walls stay where
    # they are.
    farthest_last = np.argsort(((points - (low + points.max(0)) / 2) ** 2).sum(1), kind="stable")
    chosen = np.empty(int(at.max()) + 1, np.int64)
    chosen[at[farthest_last]] = farthest_last
    return points[chosen].astype(np.float32), np.unique(faces, axis=0).astype(np.uint32)
