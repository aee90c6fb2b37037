"""One running product for all tests of clients: the deployment's admin, an organization, a token of each kind."""

import hashlib
import hmac
import json
import secrets
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.live import Site, running

EMAIL, PASSWORD, ORGANIZATION = "ada@example.com", "a long enough secret", "Analytical Engines"


def pytest_configure(config: pytest.Config) -> None:
    """Without xdist nobody else declares its mark, which keeps all these tests with one product."""
    config.addinivalue_line("markers", "xdist_group(name): run by one worker (--dist loadgroup)")


@dataclass(frozen=True)
class Live:
    """Where the product answers, and what a program needs to speak to it."""

    site: Site
    user_id: str
    organization_id: str
    organization_token: str
    account_token: str
    session_token: str


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Started once; the letters that people get are files below `letters`."""
    folder = tmp_path_factory.mktemp("live")
    key = secrets.token_urlsafe(32)
    knobs = {"DJANGO_SETTINGS_MODULE": "tests.clients.settings", "REQUEST_SIGNING_KEYS": key}
    commands = (
        ("create_user", "--email", EMAIL, "--password", PASSWORD, "--name", "Ada", "--admin"),
        ("create_organization", "--name", ORGANIZATION, "--owner", EMAIL),
        ("create_token", "--email", EMAIL, "--name", "program", "--organization", ORGANIZATION),
        ("create_token", "--email", EMAIL, "--name", "account"),
    )
    with running(folder, "clients", *commands, **knobs) as (site, printed):
        user_id, organization_id, own, account = printed
        yield Live(site, user_id, organization_id, own, account, signed_session(site.url, key, user_id))


def signed_session(url: str, key: str, user_id: str) -> str:
    """A session as a front end gets it for somebody who has signed in there. Some methods of the npm client take
    only that: they reach an organization's address with the account's credentials."""
    body = json.dumps({"id": user_id, "name": "Ada", "email": EMAIL}).encode()
    signature = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    request = urllib.request.Request(f"{url}/v0/account/auth/token", body, method="POST")
    request.add_header("Content-Type", "application/json")
    request.add_header("X-Request-Signature", signature)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["token"])
