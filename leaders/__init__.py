"""Leaders: one package per kind of device in the operator's hands."""
