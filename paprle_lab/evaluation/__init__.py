"""Evaluation of recordings; ``report`` is the entry point.

All figures derive from the recording alone, including its URDF.
"""
