"""Six worlds of a recipe, side by side, and how they differ."""

import tussock

recipe = tussock.Recipe(
    side_m=(30, 40), biomes={"meadow": 1, "mixed-forest": 1, "heath": 1}, seasons={"summer": 2, "autumn": 1}
)
pictures = []
for number in range(6):
    site = tussock.build_site(recipe, number, seed=7)
    figures = tussock.figures_of(site)
    print(
        f"world {number}: {site.choices['biome']} in {site.choices['season']}, canopy {figures.canopy_cover:.0%}, "
        f"{figures.stems_ha:.0f} stems/ha, {site.scene.triangles:,} triangles"
    )
    pictures.append(tussock.thumbnail(site, width=120))
    if number == 0:
        frame = tussock.scan(site.scene, tussock.load_sensor("vlp-16"), site.drive(speed=2.0), seed=number)
        print(f"  a VLP-16 that drives through it: {len(frame):,} returns in its first revolution")

print("wrote", tussock.plot_contact_sheet(pictures, "six_worlds.jpg", force=True))
