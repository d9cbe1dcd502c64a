"""Formats of data sets: LeRobot, HDF5, Rerun."""
