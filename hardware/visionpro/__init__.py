"""An Apple Vision Pro with Tracking Streamer (VisionProTeleop), over gRPC."""
