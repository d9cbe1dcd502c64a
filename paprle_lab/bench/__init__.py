"""The benchmark: fixed motions on robots over networks, run as a batch.

A manifest names the sources and hashes of third-party motions.
"""
