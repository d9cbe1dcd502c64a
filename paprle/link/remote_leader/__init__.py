"""A leader on another host: captures, guards, and views of the robot."""
