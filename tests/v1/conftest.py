"""Alice's program."""

import pytest

from tests.conftest import Person
from tests.v1.calling import V1, v1_of


@pytest.fixture
def v1(alice: Person) -> V1:
    return v1_of(alice)
