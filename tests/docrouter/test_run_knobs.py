"""What make run reads, and what it refuses before anything starts."""

import socket
from pathlib import Path

import pytest

from docrouter.run import address, knobs

OPEN = "0.0.0.0"  # noqa: S104  # refused, that is the point


def test_defaults_are_for_one_person_on_one_machine() -> None:
    chosen = knobs.read({})
    assert (chosen.host, chosen.port, chosen.web_processes, chosen.demo) == ("127.0.0.1", 8000, 1, True)
    assert chosen.data_dir == knobs.ROOT / ".data"
    assert chosen.worker_concurrency >= 1


def test_a_demo_on_an_open_address_is_refused() -> None:
    with pytest.raises(knobs.BadKnob, match=r"refused on HOST=0\.0\.0\.0"):
        knobs.read({"HOST": OPEN, "DEMO": "1"})


def test_an_open_address_alone_goes_without_demo_and_says_so() -> None:
    chosen = knobs.read({"HOST": OPEN})
    assert not chosen.demo
    assert "No demo" in chosen.demo_notice


@pytest.mark.parametrize("value", ["0", "false", "No", "off"])
def test_the_demo_can_be_switched_off(value: str) -> None:
    assert not knobs.read({"DEMO": value}).demo


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback_has_many_names(host: str) -> None:
    assert knobs.is_loopback(host)


@pytest.mark.parametrize("host", [OPEN, "::", "10.0.0.1", "example.com", ""])
def test_everything_else_is_open(host: str) -> None:
    assert not knobs.is_loopback(host)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "70000"),
        ("WEB_PROCESSES", "0"),
        ("WORKER_CONCURRENCY", "-1"),
        ("WORKER_CONCURRENCY", "1.5"),
    ],
)
def test_a_bad_number_is_named(name: str, value: str) -> None:
    with pytest.raises(knobs.BadKnob, match=f"{name}={value}"):
        knobs.read({name: value})


def test_a_relative_data_folder_is_made_absolute() -> None:
    assert knobs.read({"DATA_DIR": "elsewhere"}).data_dir == Path.cwd() / "elsewhere"


def test_a_taken_port_is_told_and_the_next_is_used() -> None:
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with address.listen("127.0.0.1", port, said.append) as listener:
            assert listener.getsockname()[1] > port
            assert address.url_of(listener, "127.0.0.1") == f"http://localhost:{listener.getsockname()[1]}"
    assert said[0] == f"Port {port} is taken, trying {port + 1}."


def test_an_address_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(OSError, match="assign requested address"):
        address.listen("192.0.2.1", 8000, print)
