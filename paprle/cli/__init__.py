"""The command line: ``paprle <verb> …``; ``run.py`` is ``paprle run``."""

from paprle.cli.app import main

__all__ = ["main"]
