"""Data sets for training: LeRobot and ALOHA."""
