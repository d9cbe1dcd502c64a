"""Drivers of devices, buses and simulators, independent of paprle."""
