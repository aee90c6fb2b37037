"""Errors are born once and carry what every door needs."""

import subprocess
import sys

import pytest

from core.errors import Conflict, DomainError, Forbidden, Invalid, LimitReached, NotFound, Unavailable
from documents.errors import RunActive


def test_an_error_knows_its_code_its_status_and_a_sentence_for_a_person() -> None:
    error = RunActive()
    assert (error.error_code, error.status, error.detail) == (
        "run_active",
        409,
        "This document is being read already.",
    )


def test_a_special_case_can_say_more_without_changing_its_kind() -> None:
    error = Invalid("Too long.", code="name_too_long", fields={"name": "at most 200"}, limit=200)
    assert (error.error_code, error.fields, error.extra) == ("name_too_long", {"name": "at most 200"}, {"limit": 200})
    assert Invalid().error_code == "invalid"


@pytest.mark.parametrize(
    ("kind", "status"),
    [(NotFound, 404), (Forbidden, 403), (Invalid, 400), (Conflict, 409), (LimitReached, 429), (Unavailable, 503)],
)
def test_each_kind_has_the_status_that_programs_expect(kind: type[DomainError], status: int) -> None:
    assert kind().status == status


def test_the_ground_of_errors_and_the_loop_load_without_django() -> None:
    loaded = "any(name.split('.')[0] in {'django', 'litellm'} for name in sys.modules)"
    code = f"import sys, agent.loop, core.errors; sys.exit({loaded})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
