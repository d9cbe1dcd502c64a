"""Pictures of a recording: codecs, cache, thumbnails and damaged streams."""
