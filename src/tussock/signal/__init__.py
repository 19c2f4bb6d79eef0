"""What the receiver makes of hits: pure functions of numbers."""
