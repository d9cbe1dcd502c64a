"""The server of a page: access, certificate, addresses and files."""
