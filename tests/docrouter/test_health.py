"""What load balancers and monitoring see, in good and in bad times."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from docrouter import health


@pytest.fixture(autouse=True)
def _no_remembered_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_workers", (-1000.0, []))


@pytest.fixture
def redis_is_down(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Redis address at which nobody answers."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(health, "_redis", health.redis_client(f"redis://127.0.0.1:{closed.getsockname()[1]}"))
        yield


@pytest.fixture
def database_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def cursor(self) -> None:
            raise OperationalError("connection refused")

    monkeypatch.setattr(health, "connection", Refusing())


def test_a_living_process_says_so_without_database() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_everything_there_but_no_worker_is_ready(db: None) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["database"] == answer.json()["redis"] == "ok"
    assert set(answer.json()["workers"]) == {"state", "names"}
    assert "no-cache" in answer["Cache-Control"]


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_it_is_not_ready(db: None) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"database": "ok", "redis": "down", "workers": {"state": "missing", "names": []}}


@pytest.mark.usefixtures("database_is_down")
def test_without_database_it_is_not_ready(db: None) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert (answer.json()["database"], answer.json()["redis"]) == ("down", "ok")


def test_metrics_answer_this_machine(db: None) -> None:
    text = Client().get("/metrics").content.decode()
    assert 'docrouter_up{part="database"} 1.0' in text
    assert 'docrouter_queue_messages{queue="ingest"}' in text
    for pool in ("ingest", "llm"):
        for name in ("queued", "oldest_queued_seconds", "in_flight"):
            assert f'docrouter_runs_{name}{{pool="{pool}"}} 0.0' in text


@pytest.mark.usefixtures("redis_is_down", "database_is_down")
def test_metrics_tell_what_is_down_rather_than_failing(db: None) -> None:
    text = Client().get("/metrics").content.decode()
    assert 'docrouter_up{part="database"} 0.0' in text
    assert 'docrouter_up{part="redis"} 0.0' in text


@pytest.mark.parametrize(
    "origin",
    [{"REMOTE_ADDR": "192.0.2.7"}, {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}, {"HTTP_FORWARDED": "for=192.0.2.7"}],
    ids=["direct", "through a proxy here", "through another proxy here"],
)
def test_metrics_are_closed_to_others_without_the_token(origin: dict[str, str], settings: Any) -> None:
    assert Client(**origin).get("/metrics").status_code == 403
    settings.METRICS_TOKEN = "let-me-in"
    for wrong in ("", "Bearer ", "Bearer wrong", "let-me"):
        assert Client(**origin).get("/metrics", headers={"authorization": wrong}).status_code == 403


def test_metrics_open_with_the_token(db: None, settings: Any) -> None:
    settings.METRICS_TOKEN = "let-me-in"
    answer = Client(REMOTE_ADDR="192.0.2.7").get("/metrics", headers={"authorization": "Bearer let-me-in"})
    assert answer.status_code == 200


def test_an_empty_token_setting_opens_nothing(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    answer = Client(REMOTE_ADDR="192.0.2.7").get("/metrics", headers={"authorization": "Bearer "})
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_only_reading_is_possible(path: str) -> None:
    assert Client().post(path).status_code == 405
