"""Data sets of worlds, read by other people's programs: webdataset, PyTorch, PyArrow, pykitti, SemanticKITTI's, S3."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.jobs.check import check_dataset
from tussock.jobs.finding import find_frames, read_points
from tussock.jobs.plan import Plan
from tussock.jobs.run import run_plan
from tussock.jobs.store import Store


def small_plan(layout: str, **more: Any) -> Plan:
    return Plan.parse(
        {
            "seed": 3, "frames": 2,
            "worlds": {"count": 2, "recipe": {"side_m": [22, 24], "biomes": {"scrub": 1}, "people": [1, 1]}},
            "sensors": [{"sensor": sensor(), "camera": {"width": 64, "height": 32,
                                                        "lens": {"kind": "pinhole", "horizontal_fov_deg": 80}}}],
            "output": {"layout": layout, **more},
        },
        "plan",
    )  # fmt: skip


def sensor() -> dict[str, Any]:
    from tussock.sensors.catalogue import load_sensor

    return load_sensor("vlp-16").model_dump(exclude_unset=True)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_webdataset_reads_the_shards(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="wants webdataset: pip install webdataset")
    run_plan(small_plan("webdataset"), tmp_path / "ds")
    shards = sorted(str(path) for path in (tmp_path / "ds" / "shards").glob("*.tar"))
    entries = list(webdataset.WebDataset(shards, shardshuffle=False, empty_check=False))
    assert len(entries) == 4
    for entry in entries:
        points = np.frombuffer(entry["points.bin"], "<f4").reshape(-1, 4)
        labels = np.frombuffer(entry["label.bin"], "<u4")
        about = json.loads(entry["about.json"])
        assert len(points) == len(labels) == about["returns"] > 500
        assert entry["camera.png"].startswith(b"\x89PNG")
    gc.collect()  # webdataset leaves the tar open


@pytest.mark.parametrize("layout", ["parquet", "webdataset"])
def test_pytorch_loads_both_layouts(layout: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="wants PyTorch: pip install torch")
    from tussock.jobs.reading import Frames

    run_plan(small_plan(layout), tmp_path / "ds")
    frames = Frames(str(tmp_path / "ds"))
    loader = torch.utils.data.DataLoader(frames, batch_size=None, shuffle=False)
    loaded = list(loader)
    assert len(loaded) == len(frames) == 4
    for entry in loaded:
        assert entry["points"].shape == (entry["about"]["returns"], 4)
        assert entry["label"].shape == entry["instance"].shape == entry["points"].shape[:1]
        assert entry["pictures"]["camera"].shape == (32, 64, 3)
    with pytest.raises(IndexError):
        frames[4]


def test_both_layouts_hold_the_same_points(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="wants PyTorch: pip install torch")
    from tussock.jobs.reading import Frames

    for layout in ("parquet", "webdataset"):
        run_plan(small_plan(layout), tmp_path / layout)
    one, other = (Frames(str(tmp_path / layout)) for layout in ("parquet", "webdataset"))
    for index in range(4):
        a, b = one[index], other[index]
        np.testing.assert_array_equal(a["points"][:, :3], b["points"][:, :3])
        np.testing.assert_array_equal(a["label"], b["label"])
        np.testing.assert_array_equal(a["instance"], b["instance"])


@pytest.mark.parametrize("scheme", ["goose", "rellis-3d"])
def test_class_numbers_of_others_are_written_and_explained(scheme: str, tmp_path: Path) -> None:
    from tussock.scene.label_map import load_label_map
    from tussock.scene.labels import LABELS

    run_plan(small_plan("kitti", labels=scheme), tmp_path / "theirs")
    run_plan(small_plan("kitti"), tmp_path / "ours")
    name = "sequences/000001/labels/000000.label"
    theirs, ours = (np.fromfile(tmp_path / folder / name, "<u4") for folder in ("theirs", "ours"))
    table = json.loads((tmp_path / "theirs" / "labels.json").read_text())
    assert table["scheme"] == scheme
    assert table["classes"] == load_label_map(scheme).classes
    names = {number: word for word, number in LABELS.items()}
    named = [names[number] for number in (ours & 0xFFFF).tolist()]
    want = np.array([table["classes"][table["class_of"][name]] for name in named])
    # the leaves of a shrub are a bush's, not a tree's
    bush = np.array([table["classes"][table["class_on_shrubs"].get(name, table["class_of"][name])] for name in named])
    found = (theirs & 0xFFFF).astype(int)
    assert ((found == want) | (found == bush)).all()
    assert (found == want).mean() > 0.3
    np.testing.assert_array_equal(theirs >> 16, ours >> 16)


def test_instances_of_points_and_boxes_are_the_same_things(tmp_path: Path) -> None:
    plan = small_plan("kitti")
    run_plan(plan.changed(**{"worlds.count": 1, "frames": 1}), tmp_path / "ds")
    folder = tmp_path / "ds" / "sequences" / "000000"
    frame = json.loads((folder / "about.json").read_text())["frames"][0]
    labels = np.fromfile(folder / "labels" / "000000.label", "<u4")
    points = np.fromfile(folder / "velodyne" / "000000.bin", "<f4").reshape(-1, 4)[:, :3]
    assert frame["boxes"], "the person of the recipe is in sight"
    beyond = []
    for box in frame["boxes"]:
        mine = points[labels >> 16 == box["instance"]]
        assert len(mine) == box["returns"]
        away = np.abs((mine - box["center_m"]) @ np.array(box["rotation"])) - np.array(box["size_m"]) / 2
        beyond += away.max(1).tolist()
    assert np.quantile(beyond, 0.98) < 0.1  # noise of the range
    # What moved since the frame began, and echoes that merged with those of what stands behind: a pulse of 6 ns is 0.9 m long, and
    # the thing that the point is called after has at least half of its energy.
    assert max(beyond) < 0.16 + 0.45
    seen = frame["pictures"]["camera"]
    assert np.array(seen["pose"]).shape == (4, 4)
    for box in seen["boxes"]:
        left, top, right, bottom = box["whole_px"]
        assert 0 <= left <= right < 64
        assert 0 <= top <= bottom < 32
        assert 0 <= box["occlusion"] <= 1


def test_pyarrow_reads_a_class_and_a_frame_without_the_rest(tmp_path: Path) -> None:
    import pyarrow.dataset
    import pyarrow.parquet as pq

    run_plan(small_plan("parquet"), tmp_path / "ds")
    file = next((tmp_path / "ds" / "items").rglob("*.parquet"))
    assert pq.ParquetFile(file).num_row_groups == 2
    whole = pyarrow.dataset.dataset(tmp_path / "ds" / "items", format="parquet", exclude_invalid_files=True)
    terrain = whole.to_table(columns=["x", "label"], filter=pyarrow.dataset.field("label") == 72)
    assert 0 < terrain.num_rows < whole.count_rows()
    catalogue = pq.read_table(tmp_path / "ds" / "catalogue.parquet").to_pylist()
    assert len(catalogue) == 4
    row = catalogue[-1]
    group = pq.ParquetFile(tmp_path / "ds" / row["file"]).read_row_group(row["row_group"])
    assert group.num_rows == row["returns"] == sum(count for _, count in row["classes"])
    assert set(group["frame"].to_pylist()) == {row["frame"]}
    people = find_frames(str(tmp_path / "ds"), classes=["person"])
    assert people == [row for row in catalogue if "person" in dict(row["classes"])]
    table = read_points(str(tmp_path / "ds"), catalogue[:1], ["x", "label"])
    assert table.column_names == ["x", "label"]
    assert table.num_rows == catalogue[0]["returns"]
    x, y, _ = catalogue[0]["low"]
    assert catalogue[0] in find_frames(str(tmp_path / "ds"), area=(x - 1, y - 1, x + 1e-2, y + 1e-2), worlds=[0])
    assert find_frames(str(tmp_path / "ds"), area=(900, 900, 901, 901)) == []
    with pytest.raises(InputError, match="the least first"):
        find_frames(str(tmp_path / "ds"), area=(1, 1, 0, 2))
    with pytest.raises(InputError, match="no frame was found"):
        read_points(str(tmp_path / "ds"), [])


def test_pykitti_and_semantic_kitti_read_the_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pykitti = pytest.importorskip("pykitti", reason="wants pykitti: pip install pykitti")
    run_plan(small_plan("kitti", labels="semantickitti"), tmp_path / "ds")
    theirs = pykitti.odometry(str(tmp_path / "ds"), "000001")
    assert len(theirs) == 2
    scan = theirs.get_velo(1)
    labels = np.fromfile(tmp_path / "ds" / "sequences" / "000001" / "labels" / "000001.label", "<u4")
    assert scan.shape == (len(labels), 4)
    assert theirs.get_cam2(0).size == (64, 32)
    about = json.loads((tmp_path / "ds" / "sequences" / "000001" / "about.json").read_text())
    # What stands 1 m before the LIDAR along x lies in the middle of the picture: the camera looks where it looks.
    ahead = theirs.calib.P_rect_20 @ np.append((theirs.calib.T_cam0_velo @ [1.0, 0.0, 0.0, 1.0])[:3], 1.0)
    np.testing.assert_allclose(ahead[:2] / ahead[2], [31.5, 15.5], atol=0.51)
    moved = np.array(about["frames"][1]["pose"])[:3, 3] - np.array(about["frames"][0]["pose"])[:3, 3]
    lines = np.loadtxt(tmp_path / "ds" / "sequences" / "000001" / "poses.txt").reshape(-1, 3, 4)
    np.testing.assert_allclose(np.linalg.norm(lines[1][:, 3] - lines[0][:, 3]), np.linalg.norm(moved), atol=1e-6)

    auxiliary = pytest.importorskip(
        "auxiliary.laserscan", reason="wants SemanticKITTI's reader: pip install --no-deps semantic-kitti-api"
    )
    reader = auxiliary.SemLaserScan(sem_color_dict={n: [0, 0, 0] for n in range(300)})
    folder = tmp_path / "ds" / "sequences" / "000001"
    reader.open_scan(str(folder / "velodyne" / "000001.bin"))
    reader.open_label(str(folder / "labels" / "000001.label"))
    assert set(np.unique(reader.sem_label)) <= {0, 10, 30, 40, 44, 48, 49, 50, 51, 52, 70, 71, 72, 80, 81, 99, 252, 254}


@pytest.fixture
def s3() -> Iterator[str]:
    moto = pytest.importorskip("moto.server", reason="wants a local S3 server: pip install 'moto[server]' s3fs")
    pytest.importorskip("s3fs", reason="wants s3fs: pip install 'tussock[jobs]'")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    names = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("bucket")
    yield "s3://bucket"
    server.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_s3_takes_a_data_set_and_gives_it_back(s3: str, tmp_path: Path) -> None:
    plan = small_plan("webdataset")
    assert run_plan(plan, f"{s3}/ds").made == 2
    assert run_plan(plan, f"{s3}/ds").made == 0
    assert check_dataset(f"{s3}/ds").wrong == []
    run_plan(plan, tmp_path / "ds")
    for file in sorted((tmp_path / "ds" / "shards").glob("*.tar")):
        assert Store(f"{s3}/ds").get(f"shards/{file.name}") == file.read_bytes()
    with pytest.raises(OutputError, match="cannot be reached"):
        Store("s3://no-such-bucket/ds").put("x", b"y")
    assert "s3fs" in sys.modules


def test_s3_without_credentials_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    s3fs = pytest.importorskip("s3fs", reason="wants s3fs: pip install 'tussock[jobs]'")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(OutputError) as caught:
        run_plan(small_plan("webdataset"), "s3://bucket/ds")
    s3fs.S3FileSystem.clear_instance_cache()
    assert "\n" not in str(caught.value)
    assert "credentials" in str(caught.value)


BATCH = """#!/bin/bash
# Slurm's sbatch, as far as it goes here: a copy of the script, which is deleted behind us, runs at once on this machine.
script=$(mktemp)
cp "${@: -1}" "$script"
nohup bash "$script" > /dev/null 2>&1 &
echo "Submitted batch job $!"
"""


def test_a_batch_system_starts_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("dask_jobqueue") is None:  # not imported here: it would change what Ctrl-C does
        pytest.skip("wants dask-jobqueue: pip install 'tussock[jobs]'")
    import dask

    from tussock.jobs.engines import dask_engine

    for name, text in (("sbatch", BATCH), ("scancel", '#!/bin/bash\nkill "$@" 2> /dev/null\n')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    plan = small_plan("webdataset").changed(**{"worlds.count": 1, "frames": 1})
    settings = {
        "cores": 1, "memory": "2GB", "processes": 1, "interface": None, "log-directory": str(tmp_path),
        "scheduler-options": {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"},
    }  # fmt: skip
    with dask.config.set({f"jobqueue.slurm.{key}": value for key, value in settings.items()}):
        result = run_plan(plan, tmp_path / "ds", engine=dask_engine("slurm", workers=1))
    assert (result.made, result.failed) == (1, {})
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
