"""How the frames of an item become files, one layout a module."""
