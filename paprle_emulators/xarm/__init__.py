"""An emulated UFACTORY arm with its control box, for ``xarm-python-sdk``."""
