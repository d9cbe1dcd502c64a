"""DDS, rclpy and rospy."""
