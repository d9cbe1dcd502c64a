"""Shared base of arms that a maker's controller drives over a network.

``states`` names what may be wrong, ``clock`` dates readings, ``arm`` streams goals.
"""
