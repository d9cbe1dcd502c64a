"""Impaired networks: a model, and a process between real cables."""
