"""Emulated Feetech STS3215 rigs."""
