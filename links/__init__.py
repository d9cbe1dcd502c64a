"""Links: one folder a way in which two hosts reach each other."""
