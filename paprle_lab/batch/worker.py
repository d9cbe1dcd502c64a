"""``python -m paprle_lab.batch.worker FD``: does what stands on its standard input."""

from __future__ import annotations

import json
import os
import sys

from paprle_lab.batch.run_cell import do_job


def main() -> None:
    """Answer each line, a job, by a line of how it went, until there are no more."""
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            answers.write(json.dumps(do_job(json.loads(line))) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
