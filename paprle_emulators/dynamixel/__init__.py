"""Emulated rigs of Dynamixel servos: real bytes on a pty, real physics behind them."""
