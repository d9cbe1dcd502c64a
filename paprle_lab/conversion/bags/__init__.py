"""ROS bags and MCAP files of others as episodes at one rate."""
