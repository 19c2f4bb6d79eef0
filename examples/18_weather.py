"""Weather: the forest trail in fog, a yard in rain, and the dust of something that drives."""

import numpy as np

import tussock

sensor = tussock.load_sensor("vlp-16")


def tell(name, frame, scene):
    labels = {number: label for label, number in scene.labels.items()}
    found, counts = np.unique(frame.label, return_counts=True)
    air = {
        labels[one]: int(n)
        for one, n in zip(found, counts, strict=True)
        if labels[one] in ("rain", "snow", "fog", "dust")
    }
    hard = ~np.isin(frame.label, [scene.labels[one] for one in ("rain", "snow", "fog", "dust")])
    reach = np.percentile(frame.true_range[hard], 95) if hard.any() else 0.0
    print(f"{name:32s} {len(frame):6d} returns, of the air {air or 'none'}; things are seen up to {reach:.0f} m")


# Fog: the far half goes; where it is denser still, a false return stands close to the sensor.
trail = tussock.ready_scene("forest-trail")
place = tussock.Pose.at(0, 0, 1.8)
tell("trail, clear", tussock.scan(trail, sensor, place), trail)
foggy = trail.with_weather(tussock.Weather(fog=tussock.Fog(visibility_m=30)))
tell("trail, visibility 30 m", tussock.scan(foggy, sensor, place), foggy)
dense = trail.with_weather(tussock.Weather(fog=tussock.Fog(visibility_m=10)))
tell("trail, visibility 10 m", tussock.scan(dense, sensor, place), dense)
tell("the same, last returns", tussock.scan(dense, sensor.with_(**{"receiver.mode": "last"}), place), dense)

# Rain: single drops near the sensor are returns of their own; words do as well as settings.
yard = tussock.ready_scene("yard").with_weather(tussock.parse_weather("rain 30 mm/h"))
tell("yard, rain 30 mm/h", tussock.scan(yard, sensor.with_(**{"receiver.mode": "strongest+last"}), place), yard)

# Dust: a trail of puffs behind a truck, drifting with the wind, growing and thinning out.
track = tussock.Scene("track")
track.add(tussock.plane((120, 120)), name="ground", label="terrain")
way = tussock.Trajectory.through([0.0, 10.0], [tussock.Pose.at(-40, 12, 1), tussock.Pose.at(40, 12, 1)])
track.add(tussock.box((5, 2.2, 2)), name="truck", label="truck", motion=way)
track.weather = tussock.Weather(
    dust_trails=[tussock.DustTrail(behind="truck", offset_m=(-2.5, 0, -0.7), density_g_m3=3)], wind_m_s=(0, -1.5, 0)
)
for number in (20, 50, 80):
    tell(f"track, {number / 10:.0f} s", tussock.scan(track, sensor, place, frame=number), track)
