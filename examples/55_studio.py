"""The studio; here the page is only opened, used from Python and closed again (``tussock studio`` keeps it open)."""

import tussock

studio = tussock.Studio("yard", sensor="vlp-16", port=0)
studio.move_sensor("-6,2,1.8,0,0,20")
studio.build_panel.place("shrub", (-2.0, 3.0, 0.0), {"height": 1.2})
studio.idle()
print(f"{studio.shown:,} points at {studio.url}")
studio.session.save("yard_with_a_shrub.toml")
print(studio.session.said("shrub.npz")[0])
studio.stop()
