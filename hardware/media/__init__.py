"""Camera images over a narrow link: point clouds and video."""
