"""An emulated Apple Vision Pro stream over gRPC."""
