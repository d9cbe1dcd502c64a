"""Lines of JSON between programs of one machine."""
