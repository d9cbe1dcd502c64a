"""Links, one package per carrier."""
