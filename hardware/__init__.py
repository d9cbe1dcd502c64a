"""Drivers: bytes, buses and simulators; nothing here knows paprle."""
