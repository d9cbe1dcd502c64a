"""Worker on standard input: ``python -m paprle_lab.batch.worker FD``."""

from __future__ import annotations

import json
import os
import sys

from paprle_lab.batch.run_cell import do_job


def main() -> None:
    """Answer each job line with its status."""
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            answers.write(json.dumps(do_job(json.loads(line))) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
