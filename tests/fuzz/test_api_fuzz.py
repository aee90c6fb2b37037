"""Every operation of the API with made-up requests: no 5xx, and each answer is one that the description promises.

`make fuzz` makes at least FUZZ_EXAMPLES of them anew each time; without that variable it is a few of each, always the
same ones.
"""

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from organizations.services import create_token
from tests.conftest import make_person
from tests.fuzz.stage import Stage
from tests.fuzz.wire import SIGNING_KEY, Wire, wire

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
ONLY = os.environ.get("FUZZ_ONLY", "")
"""Part of the label of operations, as "GET /v0/orgs/": the others are left out (for looking closer at one)."""
Operation = APIOperation[Any, Any, Any, Any]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
LAST = "update_provider"  # may switch on a provider whose models others would then call


@dataclass
class Findings:
    """What was wrong, each kind once with its shortest request, and how many requests there were."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: dict[tuple[str, str], str] = field(default_factory=dict)

    def note(self, case: Case, problem: str, said: str) -> None:
        line = f"{problem}\n    {said}\n    {_request(case)}"
        key = (case.operation.label, problem)
        if key not in self.faults or len(line) < len(self.faults[key]):
            self.faults[key] = line


def _request(case: Case) -> str:
    return shlex.join([case.method, case.formatted_path, f"query={case.query!r}", f"body={case.body!r}"])[:1500]


@pytest.fixture
def stage(transactional_db: None, settings: Any) -> Stage:
    settings.REQUEST_SIGNING_KEYS = [SIGNING_KEY]
    person = make_person("ada@example.com")
    person.user.is_system_admin = True
    person.user.save()
    _, own = create_token(user=person.user, name="fuzz", organization=person.organization)
    _, account = create_token(user=person.user, name="fuzz")
    return Stage(person, own, account)


@pytest.fixture
def door() -> Iterator[Wire]:
    with wire() as door:
        yield door


def operations() -> list[Operation]:
    """All operations, what destroys and what switches providers on at the end."""
    described = SchemaGenerator().get_schema(request=None, public=True)
    found = [result.ok() for result in schemathesis.openapi.from_dict(described).get_all_operations()]
    return sorted(found, key=lambda operation: (operation.definition.raw["operationId"] == LAST, operation.label))


def attempt(operation: Operation, stage: Stage, door: Wire, findings: Findings, count: int) -> None:
    """Make so many requests of an operation."""

    def run(case: Case, seed: int) -> None:
        if stage.things == {} or (case.method in {"DELETE", "PUT"} and seed % 4 == 0):
            stage.restock()
        stage.season(case, seed)
        response = door.send(case, stage.token_for(case))
        findings.statuses[response.status_code] += 1
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                findings.note(
                    case, f"{response.status_code} {failure.title}", response.text[:300] + failure.message[:500]
                )

    against = count // 2 if operation.body or operation.query else 0  # a path alone has nothing that could be wrong
    for mode, share in ((GenerationMode.POSITIVE, count - against), (GenerationMode.NEGATIVE, against)):
        if not share:
            continue
        settings(
            max_examples=share,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            derandomize=not EXAMPLES,
            suppress_health_check=list(HealthCheck),
        )(given(operation.as_strategy(generation_mode=mode), st.integers(0, 2**24))(run))()


def test_no_request_breaks_a_promise_of_the_description(
    stage: Stage, door: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [operation for operation in operations() if ONLY in operation.label]
    findings = Findings()
    count = -(-EXAMPLES * 11 // 10 // len(found))
    began = time.monotonic()
    for number, operation in enumerate(found):  # without FUZZ_EXAMPLES one each, and every other one once against
        attempt(operation, stage, door, findings, count or 1 + number % 2)
    total = findings.statuses.total()
    took = time.monotonic() - began
    with capsys.disabled():
        sys.stdout.write(f"\n{total} requests of {len(found)} operations in {took:.0f} s: {dict(findings.statuses)}\n")
    assert not findings.faults, "\n".join(f"{label}: {line}" for (label, _), line in sorted(findings.faults.items()))
    assert total >= max(EXAMPLES, len(found))
    assert ONLY or findings.statuses[200] > total / 10, "hardly any request gets as far as the thing itself"
