"""What a pixel looks like: light, surfaces, the air between."""
