"""An Apple Vision Pro with the app Tracking Streamer (VisionProTeleop), over gRPC."""
