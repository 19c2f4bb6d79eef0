"""What is handed to Rerun, with a stand-in for it: every entity under its name, and the picture where there is one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.poses import Pose
from tussock.wire.watch import rerun
from tussock.wire.watch.seen import MAP, POINT, Place, Seen


@pytest.mark.parametrize("picture", [None, np.full((4, 6, 3), 7, np.uint8)])
def test_entities_of_a_frame(monkeypatch: pytest.MonkeyPatch, picture: np.ndarray | None) -> None:
    logged: dict[str, tuple[str, Any]] = {}
    times: list[Any] = []

    def kind(name: str) -> Any:
        return lambda *values, **named: (name, (values, named))

    stream = SimpleNamespace(
        connect_grpc=lambda url: times.append(url), log=lambda entity, value: logged.update({entity: value}),
        set_time=lambda timeline, timestamp: times.append((timeline, timestamp)),
    )  # fmt: skip
    made = {name: kind(name) for name in ("Transform3D", "Points3D", "Image")}
    monkeypatch.setattr(rerun, "load_extra", lambda *_, **__: SimpleNamespace(RecordingStream=lambda _: stream, **made))
    points = np.zeros(3, POINT)
    points["x"], points["intensity"], points["label"] = [1, 2, 3], [0.0, 0.5, 9.0], [4, 5, 6]
    places = [Place(0, Pose.at(0, 0, 0)), Place(9, Pose.at(1, 2, 3))]
    send = rerun.RerunWatcher("there", 77).prepare(
        Seen("lidar", 0, 5, 1_000_000_009, points, places, None, np.empty(0, np.int64), picture)
    )
    assert not logged
    send()
    assert times == ["rerun+http://there:77/proxy", ("time", np.datetime64(1_000_000_009, "ns"))]
    at = f"{MAP}/lidar"
    assert set(logged) == {at, f"{at}/points"} | ({f"{at}/camera"} if picture is not None else set())
    np.testing.assert_array_equal(logged[at][1][1]["translation"], [1, 2, 3])
    (positions,), named = logged[f"{at}/points"][1]
    np.testing.assert_array_equal(positions, [[1, 0, 0], [2, 0, 0], [3, 0, 0]])
    np.testing.assert_array_equal(named["colors"][:, 1], [30, 127, 255])
    np.testing.assert_array_equal(named["class_ids"], [4, 5, 6])
    if picture is not None:
        assert logged[f"{at}/camera"] == ("Image", ((picture,), {}))
