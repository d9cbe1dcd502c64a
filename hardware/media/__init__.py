"""What a camera sees, sent over a narrow link: points of clouds, and video."""
