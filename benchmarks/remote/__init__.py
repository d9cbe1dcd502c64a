"""Leading over networks: late samples, order of the operator's stages."""
