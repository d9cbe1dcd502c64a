"""Emulated rigs of Feetech STS3215 servos on pseudo-terminals, with physics."""
