"""Remote leader: captures, guards, and views of the robot."""
