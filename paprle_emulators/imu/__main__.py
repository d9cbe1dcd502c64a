"""An emulated inertial sensor for trying a leader without one.

    python -m paprle_emulators.imu [attitude|inertial] [LINK]

It prints the settings that make a leader use it, and turns slowly until Ctrl-C.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import get_args

from paprle.hardware.imu.packets import PacketKind
from paprle_emulators.imu.sensor import EmulatedImu


def main() -> None:
    """Run it."""
    words = sys.argv[1:] or ["attitude"]
    kinds: tuple[PacketKind, ...] = get_args(PacketKind)
    if words[0] not in kinds or len(words) > 2:
        sys.exit(__doc__)
    kind = kinds[kinds.index(words[0])]  # type: ignore[arg-type] # it is one of them
    link = words[1] if len(words) > 1 else str(Path("/tmp") / f"paprle-imu-{kind}")
    imu = EmulatedImu(link, kind)
    imu.run()
    sys.stdout.write(f"leader.imu.port={link} leader.imu.packet={kind}\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    imu.close()


if __name__ == "__main__":
    main()
