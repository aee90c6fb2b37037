"""`python -m docrouter.embedded [--throwaway] DATA_DIR COMMAND …`: run a command with the built-in services."""

import argparse
import os
import signal
import subprocess
import sys

from docrouter.embedded.errors import EmbeddedError
from docrouter.embedded.launcher import services


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docrouter.embedded", description=__doc__)
    parser.add_argument("--throwaway", action="store_true", help="fast and not safe against a power cut (tests)")
    parser.add_argument("data_dir")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with services(options.data_dir, durable=not options.throwaway) as env:
            return subprocess.run(options.command, env=os.environ | env, check=False).returncode
    except EmbeddedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
