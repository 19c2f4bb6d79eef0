"""Paint shines: what comes back from a car depends on how it is met; a number plate outshines everything."""

import numpy as np

import tussock

scene = tussock.Scene("car park")
scene.add(tussock.plane((60, 60), material=tussock.SURFACES["asphalt"]), name="asphalt")
scene.add(
    tussock.box((4, 1.8, 1.4), material=tussock.SURFACES["car-paint"]), name="car", label="car", position=(10, 0, 0.7)
)
scene.add(
    tussock.box((0.02, 0.5, 0.12), material=tussock.SURFACES["retro-sheet"]), name="plate", position=(7.98, 0, 0.6)
)

sensor = tussock.load_sensor("vls-128").with_(**{"beam.rays": 9})
world = tussock.World(scene)
print("heading   car: returns, brightest   plate: brightest")
for heading in (0, 10, 20, 30, 45):
    turn = np.radians(heading)
    place = tussock.Pose.at(10 - 10 * np.cos(turn), 10 * np.sin(turn), 0.9, yaw=-turn)
    frame = tussock.scan(world, sensor, place, seed=1)
    car, plate = (frame.select(frame.object_id == scene[name].id) for name in ("car", "plate"))
    shine = plate.intensity.max() if len(plate) else 0.0
    print(f"{heading:5d}°  {len(car):14d}  {car.intensity.max():9.2f}  {shine:17.1f}")
print("head-on the lobe adds K_s = 0.45 to the paint's 0.25; 30° away only Lambert is left")
