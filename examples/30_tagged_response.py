"""A coarse box that spreads the range like a hedge: no leaves, only a tag, and what stands behind still stops every pulse."""

import numpy as np

import tussock

quiet = {"noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0}  # so that all spread is the hedge's
sensor, pose = tussock.load_sensor("vlp-32c").with_(**quiet), tussock.Pose.at(0, 0, 1.2)


def yard(response: tussock.VegetationResponse | None) -> tussock.Scene:
    scene = tussock.Scene("yard")
    scene.add(tussock.box((1.0, 8.0, 1.6)), name="hedge", tags=["vegetation"], response=response, position=(9, 0, 0.8))
    scene.add(tussock.box((0.2, 12.0, 3.0)), name="wall", label="wall", position=(10.2, 0, 1.5))
    scene.add(tussock.plane((60, 60)), name="ground", label="terrain")
    return scene


hard = tussock.scan(yard(tussock.VegetationResponse(sigma_m=0)), sensor, pose)
asked = {
    "hard": tussock.VegetationResponse(sigma_m=0),
    "σ 0.4 m": tussock.VegetationResponse(sigma_m=0.4),
    "tag alone": None,
}
for name, response in asked.items():
    frame = tussock.scan(yard(response), sensor, pose)
    hedge = frame.select(frame.object_id == 1)
    error = hedge.range - hard.range[np.searchsorted(hard.pulse, hedge.pulse)]
    print(
        f"{name:9s} {len(hedge)} returns of the hedge, error {error.mean():+.2f} ± {error.std():.2f} m, "
        f"furthest x {hedge.xyz[:, 0].max():.2f} m, lowest z {abs(hedge.world_xyz()[:, 2].min()):.2f} m"
    )  # the wall is at x = 10.1 m

# Two returns: the second one is what stands behind the hedge. Elsewhere both are the same.
both = tussock.scan(yard(None), sensor.with_(**{"receiver.mode": "strongest+last"}), pose)
one, two = both.select(both.return_number == 1), both.select(both.return_number == 2)
met = one.object_id[np.searchsorted(one.pulse, two.pulse)]
names = {1: "hedge", 2: "wall", 3: "ground"}
for number, name in names.items():
    behind, count = np.unique(two.object_id[met == number], return_counts=True)
    shares = [f"{names[int(k)]} {share:.0%}" for k, share in zip(behind, count / count.sum(), strict=True)]
    print(f"first return {name}: the second is {', '.join(shares)}")
