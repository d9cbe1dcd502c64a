"""Evaluation of recordings: errors, latencies, variability, verdict and the report.

``report`` is the entry point. Everything is computed from the recording alone, its URDF
included, and the same numbers stand in the JSON and on the page.
"""
