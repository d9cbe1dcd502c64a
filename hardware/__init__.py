"""Drivers of devices, buses and simulators."""
