"""Data sets of recorded episodes, for training: LeRobot and ALOHA."""
