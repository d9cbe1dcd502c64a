"""Calibration of an arm: its fit and its dialogue."""
