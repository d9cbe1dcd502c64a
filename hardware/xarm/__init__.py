"""UFACTORY arms behind their control box, through the maker's SDK."""
