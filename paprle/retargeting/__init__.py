"""From what a leader does to what a robot should do: pairing, maps, anchors."""
