"""``python -m paprle``: the same as the command ``paprle``."""

from __future__ import annotations

import sys

from paprle.cli import main

if __name__ == "__main__":
    sys.exit(main())
