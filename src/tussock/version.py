"""The version, as the installed package knows it."""

from importlib import metadata

__all__ = ["VERSION"]

VERSION: str = metadata.version("tussock")
