"""The JSON door itself: addresses that do not exist, bugs of ours, bodies that are too large, rate limits."""

import json
from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis

from core.api import limits
from core.api.limits import Standing, TooManyRequests
from tests.api import Api, api_of
from tests.conftest import Person


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def limited(settings: LazySettings) -> Iterator[LazySettings]:
    """Limits on, 3 a minute for a person and 5 for an organization, counted afresh."""
    url, settings.RATE_LIMIT_SCALE = settings.REDIS_URL, 1
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"api": 3}
    settings.RATE_LIMIT_OF_AN_ORGANIZATION = 5 / 3
    yield settings
    with Redis.from_url(url) as redis:
        if keys := list(redis.scan_iter(match=f"*{settings.REDIS_PREFIX}*api*", count=1000)):
            redis.delete(*keys)


def test_an_address_that_does_not_exist_is_json(nobody: Client, db: None) -> None:
    answer = nobody.get("/v0/nonsense")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Not Found")


def test_a_method_that_does_not_exist_is_json_and_names_those_that_do(api: Api) -> None:
    answer = api.raw("patch", "tags", {})
    assert (answer.status_code, answer.json()["detail"]) == (405, "Method Not Allowed")
    assert "POST" in answer["Allow"]


def test_a_slash_too_many_leads_to_the_address_with_method_and_query(api: Api) -> None:
    answer = api.raw("post", "tags/?a=1", {"name": "x"})
    assert (answer.status_code, answer["Location"]) == (307, f"{api.base}/tags?a=1")


def test_a_slash_too_many_at_a_host_of_somebody_else_leads_nowhere(nobody: Client, db: None) -> None:
    assert nobody.get("/v0//evil.example.com/").status_code == 404


def test_a_bug_of_ours_is_json_with_the_id_of_the_request(
    alice: Person, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("a secret of the document")

    monkeypatch.setattr("tags_app.selectors.list_tags", broken)
    client = Client(raise_request_exception=False)
    answer = client.get(f"{api.base}/tags", headers={"Authorization": f"Bearer {api.token}"})
    assert answer.status_code == 500
    assert answer.json()["detail"] == "Internal Server Error"
    assert answer.json()["request_id"] == answer["X-Request-Id"]
    assert b"secret" not in answer.content


def test_a_body_that_is_too_large_is_refused(api: Api, settings: LazySettings) -> None:
    settings.MAX_BODY_BYTES = 1000
    answer = api.raw("post", "tags", json.dumps({"name": "x", "description": "y" * 1000}).encode())
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_a_person_who_asks_too_often_is_told_when_to_come_back(api: Api, limited: LazySettings) -> None:
    answers = [api.raw("get", "tags") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answers[0][f"X-RateLimit-{part}"] for part in ("Limit", "Remaining")] == ["3", "2"]
    assert 1 <= int(answers[3]["Retry-After"]) <= 60
    assert answers[3].json()["detail"] == "Too many requests. Wait a moment and try again."


def test_the_people_of_an_organization_share_a_limit_too(alice: Person, bob: Person, limited: LazySettings) -> None:
    hers, his = api_of(alice), api_of(bob)
    assert [hers.raw("get", "tags").status_code for _ in range(3)] == [200] * 3
    assert [his.raw("get", "tags").status_code for _ in range(3)] == [200, 200, 429]


def test_one_limit_does_not_count_against_another(limited: LazySettings) -> None:
    for _ in range(3):
        limits.count("api", [("person", "p1")])
    with pytest.raises(TooManyRequests):
        limits.count("api", [("person", "p1")])
    assert isinstance(limits.count("chat", [("person", "p1")]), Standing)
    assert isinstance(limits.count("api", [("person", "p2")]), Standing)


def test_without_redis_nobody_is_kept_out(limited: LazySettings) -> None:
    limited.REDIS_URL = "redis://127.0.0.1:1/0"
    assert limits.count("api", [("person", "p1")]) is None


def test_the_page_of_the_description_loads_nothing_from_elsewhere(nobody: Client, db: None) -> None:
    page = nobody.get("/api/docs/")
    assert page.status_code == 200
    assert b"https://" not in page.content
    assert b"<script>" not in page.content
