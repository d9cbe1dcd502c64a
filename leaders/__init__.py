"""Leaders: one folder a kind of device in the operator's hand."""
