"""Leaders: one package per kind of operator's device."""
