"""Light meets the scene: hits, through Embree."""
