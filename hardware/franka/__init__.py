"""Franka Research 3 over FCI, through ``pylibfranka``.

Its calls hold the GIL, so arm and hand have a process each.
"""
