"""Config from YAML triple, site overlay and command line."""

from paprle.config.files import known_names
from paprle.config.resolve import LeaderChoice, Resolved, resolve

__all__ = ["LeaderChoice", "Resolved", "known_names", "resolve"]
