"""A receiver on loopback, which these tests' webhooks may reach."""

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running
