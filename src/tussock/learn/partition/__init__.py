"""How returns are divided into volumes."""
