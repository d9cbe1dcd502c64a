"""Dynamixel servos on a serial bus, over the vendor's SDK; SI units at the border.

``bus`` is one bus used by one thread, ``bus_thread`` its thread, ``models``
what a servo model is, ``torque`` what may be rendered, ``inspection`` what is wrong
with a servo. Nothing here knows of robots, limbs or sessions.
"""
