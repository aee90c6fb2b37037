"""JSON keeps the order in which it was written."""

import json
from typing import Any

import pytest

from documents.models import ExtractionEdit
from tests.conftest import Person
from tests.documents.making import make_document, make_prompt
from tests.documents.test_extraction import stored


@pytest.mark.parametrize(
    "value", [{"zeta": 1, "a": {"z": [1], "b": None}}, ["b", "a"], "text", '{"not": "parsed"}', 1.5, True, None, 0, ""]
)
def test_a_value_comes_back_as_it_was_written(alice: Person, value: Any) -> None:
    result = stored(alice, make_document(alice), make_prompt(alice), {"zeta": 1, "a": value})
    result.refresh_from_db()
    assert json.dumps(result.llm_result) == json.dumps({"zeta": 1, "a": value})
    edit = ExtractionEdit.objects.create(
        organization=alice.organization, extraction=result, actor_name="x", via="page", path="a", value_to=value
    )
    edit.refresh_from_db()
    assert json.dumps(edit.value_to) == json.dumps(value)
