"""How points become pixels and pixels become rays."""
