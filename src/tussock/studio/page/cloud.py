"""Points on the page: those of the frame, beside or instead of them those of a second, or how they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.plots.point_colors import Legend, PointColor, paint_points, scaled
from tussock.studio.compare import shown_points
from tussock.studio.session import Session

__all__ = ["VIEWS", "Cloud"]

VIEWS = ("first", "second", "beside", "difference")
"""of two frames"""


class Cloud:
    """The point clouds at ``server.scene``."""

    def __init__(self, server: Any, origin: NDArray[np.float64]) -> None:
        self._server, self._origin = server, origin
        self._nodes: dict[str, Any] = {}
        self.size = 0.05
        """[m] of a point"""
        self.count = 0
        """points on the page"""
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        """rows of the frame that is picked from, one a point"""
        self.points: NDArray[np.float64] = np.zeros((0, 3))
        """[m] and where they are"""
        self.picked: Frame | None = None
        """the frame that is picked from"""

    def show(self, session: Session, color: PointColor, view: str) -> Legend:
        """Draw what there is; the legend is that of the first cloud."""
        frame, second = session.frame, session.other_frame
        self.count = 0
        if frame is None:
            return Legend("nothing was scanned yet")
        if second is None or view == "first":
            self._hide("/second")
            return self._draw("/points", frame, color)
        if view == "second":
            self._hide("/second")
            return self._draw("/points", second, color)
        if view == "beside":
            points = shown_points(frame)[frame.hit]
            # As far aside as nearly all of the first reaches, and a gap: nobody takes one for the other.
            wide = float(np.ptp(np.percentile(points[:, 1], (1, 99)))) if len(points) else 0.0
            legend = self._draw("/points", frame, color)
            self._draw("/second", second, color, np.array([0.0, wide + 10.0, 0.0]))
            return legend
        self._hide("/second")
        return self._draw_difference(session, second)

    def _draw(self, name: str, frame: Frame, color: PointColor, shift: Any = 0.0) -> Legend:
        rows = np.flatnonzero(frame.hit & np.isfinite(frame.xyz).all(1))
        returns = frame.select(rows)
        painted = paint_points(returns, color)
        points = shown_points(returns) + shift
        if name == "/points":
            self.rows, self.points, self.picked = rows, points, frame
        self._send(name, points, painted.colors)
        return painted.legend

    def _draw_difference(self, session: Session, second: Frame) -> Legend:
        found = session.compared()
        assert found is not None
        if found.by == "pulse":
            most = max(float(np.percentile(np.abs(found.values), 98)) if len(found.values) else 0.0, 0.01)
            painted = scaled(found.values, "second − first range [m]", "coolwarm", (-most, most))
        else:
            most = max(float(np.percentile(found.values, 98)) if len(found.values) else 0.0, 0.01)
            painted = scaled(found.values, "to the nearest of the first [m]", "viridis", (0.0, most))
        points = shown_points(second)[found.rows]
        self.rows, self.points, self.picked = found.rows, points, second
        self._send("/points", points, painted.colors)
        return painted.legend

    def _send(self, name: str, points: NDArray[np.float64], colors: NDArray[np.uint8]) -> None:
        self.count += len(points)
        if not len(points):
            self._hide(name)  # a browser draws no cloud without points, and would keep the old one
            return
        self._nodes[name] = self._server.scene.add_point_cloud(
            name, (points - self._origin).astype(np.float32), colors, point_size=self.size, point_shape="circle",
            point_shading="flat", precision="float32",
        )  # fmt: skip

    def _hide(self, name: str) -> None:
        node = self._nodes.pop(name, None)
        if node is not None:
            node.remove()

    def resize(self, size: float) -> None:
        """Draw points of another size [m]."""
        self.size = size
        for node in self._nodes.values():
            node.point_size = size

    def mark(self, place: NDArray[np.float64], path: NDArray[np.float64]) -> None:
        """Show which point was picked, and the ray (2, 3) that it came along."""
        self._server.scene.add_icosphere(
            "/picked", radius=max(1.5 * self.size, 0.05), color=(255, 255, 255), position=place - self._origin
        )
        ray = (path - self._origin).astype(np.float32)[None]
        self._server.scene.add_line_segments("/picked-ray", ray, (255, 255, 255), thickness=0.01)
