"""Images of a camera, sent over a narrow link: points of clouds, and video."""
