"""What `make run` reads from the environment, checked before anything starts."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FALSE = {"0", "false", "no", "off"}


class BadKnob(ValueError):  # the name says it
    """A variable has a value that cannot be used; the message names it."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """The knobs of `make run`; `demo_notice` says why there is no demo although nobody switched it off."""

    host: str
    port: int
    data_dir: Path
    demo: bool
    demo_notice: str
    web_processes: int
    worker_concurrency: int


def read(environ: Mapping[str, str]) -> Knobs:
    """Raises: BadKnob with a sentence for the person at the terminal."""
    host = environ.get("HOST") or "127.0.0.1"
    demo, notice = _demo(environ.get("DEMO", ""), host)
    cores = len(os.sched_getaffinity(0))
    return Knobs(
        host=host,
        port=_number(environ, "PORT", default=8000, least=0, most=65535),
        data_dir=Path(os.path.abspath(environ.get("DATA_DIR") or ROOT / ".data")),  # noqa: PTH100  # keeps links
        demo=demo,
        demo_notice=notice,
        web_processes=_number(environ, "WEB_PROCESSES", default=1, least=1, most=64),
        worker_concurrency=_number(environ, "WORKER_CONCURRENCY", default=cores, least=1, most=256),
    )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _demo(value: str, host: str) -> tuple[bool, str]:
    if value.strip().lower() in FALSE:
        return False, ""
    if is_loopback(host):
        return True, ""
    if value:
        raise BadKnob(f"DEMO makes a well-known administrator and is refused on HOST={host}. Set DEMO=0.")
    return False, f"No demo organization, because HOST={host} is reachable from outside."


def _number(environ: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    value = environ.get(name) or str(default)
    try:
        number = int(value)
    except ValueError as error:
        raise BadKnob(f"{name}={value} is not a whole number.") from error
    if not least <= number <= most:
        raise BadKnob(f"{name}={value} is not between {least} and {most}.")
    return number
