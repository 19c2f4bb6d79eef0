"""What stands and moves in worlds beside plants: stones, deadwood, fences, people, animals."""
