"""The benchmark: fixed motions, the same for everybody, on robots over networks.

Motions that others own are not here: a manifest tells where they are published and
what their bytes are. A batch drives them, and what the table says becomes scores.
"""
