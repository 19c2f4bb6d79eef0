"""How much real bushes spread the range, and coarse bushes that spread as much.

With a capture of your own: 31_estimate_and_match.py capture.pcap x0,y0,z0,x1,y1,z1 (a box around vegetation [m]).
The same from the command line:  tussock noise capture.pcap --box ... --match coarse.toml --sensor vlp-16 --out ...
"""

import sys

import tussock

BOX = [6, -6, 0.1, 12, 6, 3]
sensor, pose = tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1.5)
ROW = (-4, -2, 0, 2, 4)  # y of the bushes

if len(sys.argv) > 2:
    real, box = tussock.load_pulses(sys.argv[1]), [float(part) for part in sys.argv[2].split(",")]
else:  # bushes with every leaf stand for the real ones
    leafy = tussock.Scene("leafy")
    leafy.add(tussock.plane((60, 60)), name="ground")
    places = tussock.Placements.of([[9, y, 0] for y in ROW])
    leafy.add(tussock.shrub(height=1.8, radius=0.9, leaf_area=6, seed=2), name="bushes", placements=places)
    frames = [tussock.scan(leafy, sensor, pose, frame=number, keep_misses=True) for number in range(3)]
    real, box = tussock.join_pulses([tussock.measured_pulses(frame) for frame in frames]), BOX

spread = tussock.measure_range_spread(real, box)
print(f"real:   {spread.count} points, mean {spread.mean:+.3f} m, variance {spread.variance:.3f} m²")
tussock.plot_range_spread(spread, real, "spread.png", force=True)

coarse = tussock.Scene("coarse")
coarse.add(tussock.plane((60, 60)), name="ground")
middles = tussock.Placements.of([[9, y, 0.9] for y in ROW])
coarse.add(tussock.sphere(0.9), name="bushes", tags=["vegetation"], placements=middles)
match = tussock.match_response(coarse, sensor, pose, spread.variance)
print(f"coarse: variance {match.before.variance:.3f} m² as hard surfaces")
print(f"        variance {match.after.variance:.3f} m² with σ {match.sigma} m, in scans of their own")
tussock.save_scene(match.scene, "matched.toml", force=True)
