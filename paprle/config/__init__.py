"""Config: YAML triple, site overlay and command line in; validated settings out."""

from paprle.config.files import known_names
from paprle.config.resolve import Resolved, resolve

__all__ = ["Resolved", "known_names", "resolve"]
