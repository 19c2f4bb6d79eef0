"""What a vehicle meets: the ground below the plants, what stops it, what gives way, what moves."""
