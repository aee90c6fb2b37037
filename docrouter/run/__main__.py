"""`python -m docrouter.run [demo FILE]`: what `make run` and `make demo` call once everything is installed."""

import os
import subprocess
import sys

import environ

from docrouter.embedded import AlreadyRunningError
from docrouter.run import knobs
from docrouter.run.supervisor import Supervisor

SAMPLE = "docrouter/samples/statement-en-contoso-1.pdf"


def main(arguments: list[str]) -> int:
    env_file = knobs.ROOT / ".env"
    if env_file.is_file():
        environ.Env.read_env(str(env_file))
    try:
        chosen = knobs.read(os.environ)
    except knobs.BadKnob as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if arguments[:1] == ["demo"]:
        return demo(chosen, (arguments[1:] or [""])[0] or SAMPLE)
    return Supervisor(chosen, os.environ).run()


def demo(chosen: knobs.Knobs, file: str) -> int:
    """Do the main job in the terminal: on what runs already, else on services and workers of our own."""
    command = [sys.executable, "manage.py", "demo", file]
    environment = {"LOG_LEVEL": "WARNING"} | os.environ | {"DATA_DIR": str(chosen.data_dir)}
    try:
        return Supervisor(chosen, environment).run_once(command)
    except AlreadyRunningError:
        return subprocess.run(command, cwd=knobs.ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
