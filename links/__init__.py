"""Links: one package per way that two hosts reach each other."""
