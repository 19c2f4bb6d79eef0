"""Grow a small hillside: terrain from noise, shrubs and conifers over it, a path left free."""

import tussock

hill = tussock.noise_terrain((60.0, 60.0), height=1.5, wavelength=40.0, seed=1)
path = tussock.Strip(line_m=[(-30, -4), (0, 0), (30, 6)], width_m=5)
scene = tussock.Scene("hill")
scene.add(hill.mesh(tussock.SURFACES["litter"]), name="ground", label="terrain")
for name, mesh, density, spacing in (
    ("shrubs", tussock.shrub(height=1.2, radius=0.7, triangles=6_000), 0.10, 1.2),
    ("firs", tussock.conifer(height=9.0, crown_radius=1.8, triangles=12_000), 0.02, 3.0),
):
    places = tussock.populate(hill, (58.0, 58.0), density=density, spacing=spacing, exclude=[path], scale=(0.7, 1.2))
    scene.add(mesh, name=name, label="vegetation", tags=("vegetation",), placements=places)
    print(f"{name}: {len(places)}")

frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 3))
print(f"{scene.triangles:,} triangles, {len(frame):,} returns")
tussock.plot_scene(scene, "hill.png", tussock.Pose.at(-28, -3.5, 4.0), size=(480, 270), force=True)
