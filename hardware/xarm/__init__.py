"""UFACTORY arms through the maker's SDK."""
