"""Transports of ROS messages: DDS, rclpy and rospy."""
