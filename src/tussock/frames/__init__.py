"""What comes out: frames, one row per return, truth beside measurement."""
