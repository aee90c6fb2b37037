"""A launcher in a process of its own, to be killed: `launch.py DATA_DIR WAY [orphans]`; ends when its input ends.

Uses nothing but docrouter.embedded, so that it runs with any Python, as any user.
"""

import json
import os
import sys
from pathlib import Path

from docrouter.embedded import Embedded, processes


def main() -> None:
    data_dir, way, *options = sys.argv[1:]
    if "orphans" in options:  # as where the kernel forgets to tell the children
        processes.dies_with_parent = lambda _signum: lambda: None
    embedded = Embedded(Path(data_dir), environ={}, way=None if way == "any" else way)
    env = embedded.start()
    sys.stdout.write(json.dumps({"env": env, "pids": embedded.pids, "launcher": os.getpid()}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    embedded.stop()


if __name__ == "__main__":
    main()
