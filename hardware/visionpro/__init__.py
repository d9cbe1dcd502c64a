"""Apple Vision Pro with Tracking Streamer (VisionProTeleop)."""
