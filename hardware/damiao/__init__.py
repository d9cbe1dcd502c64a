"""Damiao's motors on CAN: frames, a bus, and an arm of torque-controlled joints."""
