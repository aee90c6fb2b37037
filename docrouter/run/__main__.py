"""`python -m docrouter.run`: what `make run` calls once everything is installed."""

import os
import sys

import environ

from docrouter.run import knobs
from docrouter.run.supervisor import Supervisor


def main() -> int:
    env_file = knobs.ROOT / ".env"
    if env_file.is_file():
        environ.Env.read_env(str(env_file))
    try:
        chosen = knobs.read(os.environ)
    except knobs.BadKnob as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return Supervisor(chosen, os.environ).run()


if __name__ == "__main__":
    raise SystemExit(main())
