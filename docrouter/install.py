"""`python3 docrouter/install.py [--dev]`: make .venv from the pinned, hashed requirements; nothing when it is current.

Runs with the machine's own python3 and nothing installed, so it uses the standard library only and no new syntax
before it has looked at the version.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)


def main() -> int:
    """Return the exit status; say what is being done, since the first time takes a while."""
    if sys.version_info < OLDEST:
        found = ".".join(str(part) for part in sys.version_info[:2])
        return fail(f"DocRouter needs Python 3.11 or newer; this is {found}. Choose one: make PYTHON=python3.12 run")
    wanted = "requirements-dev.txt" if "--dev" in sys.argv[1:] else "requirements.txt"
    fingerprint = fingerprint_of(wanted)
    if is_current(wanted, fingerprint):
        return 0
    if not make_venv() or not install(wanted):
        return 1
    stamp_of(wanted).write_text(fingerprint)
    if wanted == "requirements-dev.txt":  # it contains the others
        stamp_of("requirements.txt").write_text(fingerprint_of("requirements.txt"))
    return 0


def fingerprint_of(requirements: str) -> str:
    """What was installed from what, by which Python: a change of any of these installs again."""
    pinned = b"".join((ROOT / name).read_bytes() for name in ("requirements-bootstrap.txt", requirements))
    return hashlib.sha256(pinned + sys.version.encode() + str(ROOT).encode()).hexdigest()


def stamp_of(requirements: str) -> Path:
    return VENV / f".installed-{requirements}"


def is_current(requirements: str, fingerprint: str) -> bool:
    stamp = stamp_of(requirements)
    return PYTHON.exists() and stamp.exists() and stamp.read_text() == fingerprint


def make_venv() -> bool:
    """Make .venv; on a Debian that has python3 without its venv package, root installs that first."""
    if PYTHON.exists() and run([str(PYTHON), "-m", "pip", "--version"], quiet=True):
        return True
    say("Creating .venv …")
    create = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if run(create, quiet=True):
        return True
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say("Installing Debian's python3-venv …")
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "-qq"], environ=environ)
        if run(["apt-get", "install", "-y", "-qq", "python3-venv"], environ=environ) and run(create):
            return True
    fail("Python cannot make a virtual environment here. On Debian: sudo apt-get install python3-venv")
    return False


def install(requirements: str) -> bool:
    """Install with uv, which takes seconds; with pip where uv does not run."""
    say(f"Installing {requirements} …")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"]
    environ = {**os.environ, "VIRTUAL_ENV": str(VENV)}
    if run([*pip, "requirements-bootstrap.txt"], quiet=True):
        uv = [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON), "--require-hashes", "-r"]
        if run([*uv, requirements], environ=environ):
            return True
    say("uv did not do it; trying pip, which takes some minutes …")
    if run([*pip, requirements]):
        return True
    fail("The requirements could not be installed; see above.")
    return False


def run(command: "list[str]", *, environ: "dict[str, str] | None" = None, quiet: bool = False) -> bool:
    output = subprocess.DEVNULL if quiet else None
    try:
        done = subprocess.run(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    except OSError:
        return False
    return done.returncode == 0


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fail(text: str) -> int:
    sys.stderr.write(text + "\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
