"""Franka Research 3 over the Franka Control Interface, through ``pylibfranka``.

Its calls keep Python's lock while they wait, so arm and hand have a process each.
"""
