"""Ids sort by time, are shown as 32 hex characters, and a malformed one looks like an unknown one."""

import uuid

import pytest

from core.errors import NotFound
from core.ids import new_id, parse_id, show_id
from documents.errors import DocumentNotFound


def test_ids_sort_in_the_order_in_which_they_were_made() -> None:
    ids = [new_id() for _ in range(1000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 1000
    assert all(one.version == 7 for one in ids)


def test_an_id_is_shown_as_hex_and_read_back_in_both_forms() -> None:
    one = new_id()
    assert parse_id(show_id(one)) == parse_id(str(one)) == parse_id(show_id(one).upper()) == parse_id(one) == one


@pytest.mark.parametrize(
    "text", ["", "x", "0" * 31, "0" * 33, "g" * 32, None, 5, ["0" * 32], "0" * 32 + "\n", "\0" * 32, "٠" * 32, "-" * 36]
)
def test_a_malformed_id_looks_like_an_unknown_one(text: object) -> None:
    with pytest.raises(NotFound):
        parse_id(text)
    with pytest.raises(DocumentNotFound):
        parse_id(text, error=DocumentNotFound)


def test_the_all_zero_id_is_well_formed() -> None:
    assert parse_id("0" * 32) == uuid.UUID(int=0)
