"""Start a teleoperation session: ``python run.py leader=… follower=… env=…``."""

import sys

from paprle.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
