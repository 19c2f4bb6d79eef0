"""Where rounding would decide what a ray meets: right at edges, and where surfaces cross."""
