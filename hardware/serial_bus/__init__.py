"""Serial buses of servos: port, requests, search and thread, for any vendor's SDK."""
