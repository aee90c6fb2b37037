"""Pages of rows: plain search, a total order, the grid's conditions, tried on tags."""

import json
from datetime import UTC, datetime

import pytest

from core.errors import Invalid
from core.listing import MAX_QUERY_CHARS, Listing, page_of
from tags_app.models import Tag
from tags_app.selectors import list_tags
from tags_app.services import create_tag
from tests.conftest import Person

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 5, 1, 12, 30, 15, 250, tzinfo=UTC)


@pytest.fixture
def tags(alice: Person, charlie: Person) -> None:
    create_tag(actor=alice.actor, name="50%", color="#111111", description="first")
    create_tag(actor=alice.actor, name="a_b", color="#222222", description="")
    create_tag(actor=alice.actor, name="A.B", color="#111111")
    create_tag(actor=charlie.actor, name="theirs")
    Tag.objects.filter(name="A.B").update(created_at=DAY)


def names(person: Person, **query: str) -> list[str]:
    return [tag.name for tag in list_tags(actor=person.actor, **query).rows]  # type: ignore[arg-type]


def where(field: str, operator: str, value: object = None) -> str:
    return json.dumps({"items": [{"field": field, "operator": operator, "value": value}]})


@pytest.mark.usefixtures("tags")
@pytest.mark.parametrize(
    ("search", "found"),
    [("%", ["50%"]), ("_", ["a_b"]), (".", ["A.B"]), ("A", ["A.B", "a_b"]), ("", ["A.B", "a_b", "50%"]), ("\\", [])],
)
def test_a_search_is_plain_text_without_case(alice: Person, search: str, found: list[str]) -> None:
    assert names(alice, name_search=search) == found


@pytest.mark.usefixtures("tags")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (where("description", "isEmpty"), ["A.B", "a_b"]),
        (where("description", "isNotEmpty"), ["50%"]),
        (where("description", "doesNotContain", "first"), ["A.B", "a_b"]),
        (where("description", "doesNotContain", "fi"), ["A.B", "a_b"]),
        (where("description", "contains", "FI"), ["50%"]),
        (where("color", "isAnyOf", ["#111111"]), ["A.B", "50%"]),
        (where("created_at", "is", "2026-05-01"), ["A.B"]),
        (where("created_at", "is", "2026-05-01T12:30"), ["A.B"]),
        (where("created_at", "is", "2026-05-01T12:30:15.000250Z"), ["A.B"]),
        (where("created_at", "is", "2026-05-01T12:30:16Z"), []),
        (where("created_at", "not", "2026-05-01"), ["a_b", "50%"]),
        (where("created_at", "isAnyOf", ["2026-05-01", "2020-01-01"]), ["A.B"]),
        (where("created_at", "before", "2026-05-01T12:31"), ["A.B"]),
        (where("created_at", "before", "2026-05-01T12:30"), []),
        (where("id", "is", "0" * 32), []),
        (where("id", "isAnyOf", ["0" * 32]), []),
        ('{"items": null}', ["A.B", "a_b", "50%"]),
        ("{}", ["A.B", "a_b", "50%"]),
    ],
)
def test_conditions_mean_what_the_grid_says(alice: Person, filters: str, found: list[str]) -> None:
    assert names(alice, filters=filters) == found


@pytest.mark.usefixtures("tags")
def test_rows_that_are_equal_stand_in_the_order_they_were_made_and_turn_with_the_sort(alice: Person) -> None:
    by_color = [{"field": "color", "sort": "asc"}]
    assert names(alice, sort=json.dumps(by_color)) == ["50%", "A.B", "a_b"]
    by_color[0]["sort"] = "desc"
    assert names(alice, sort=json.dumps(by_color)) == ["a_b", "A.B", "50%"]
    both = [{"field": "color", "sort": "asc"}, {"field": "name", "sort": "desc"}]
    assert names(alice, sort=json.dumps(both)) == ["A.B", "50%", "a_b"]


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "x" * (MAX_QUERY_CHARS + 1)},
        {"sort": '[{"field": ["name"], "sort": "asc"}]'},
        {"sort": '[{"field": "deleted_at", "sort": "asc"}]'},
        {"filters": '{"items": "name"}'},
        {"filters": where("name", "isAnyOf", "text")},
        {"filters": where("id", "is", "nonsense")},
        {"filters": where("id", "isAnyOf", ["nonsense"])},
        {"filters": where("created_at", "after", {})},
        {"filters": where("created_at", "after", "0001-01-01T00:00+23:59")},
        {"filters": where("name", "contains", "\ud800")},
        {"filters": '{"items": [{"field": {"a": 1}, "operator": "is"}]}'},
        {"filters": '{"items": [{"field": "name", "operator": 7}]}'},
        {"filters": '{"items": ' + "[" * 4000 + "}"},
    ],
)
def test_what_cannot_be_read_is_refused(alice: Person, query: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        names(alice, **query)


@pytest.mark.usefixtures("tags")
def test_a_page_stays_within_bounds_and_knows_its_neighbours(alice: Person) -> None:
    rows = Tag.objects.filter(organization=alice.organization).order_by("pk")
    page = page_of(rows, skip=1, limit=1)
    assert (page.first, page.last, page.earlier, page.later, page.total_count) == (2, 2, 0, 2, 3)
    assert [len(page_of(rows, skip=skip, limit=limit).rows) for skip, limit in ((-5, 0), (2**40, 5), (0, 10**9))] == [
        *(1, 0, 3)
    ]
    empty: Listing[Tag] = page_of(rows.none(), skip=0, limit=5)
    assert (empty.first, empty.earlier, empty.later) == (0, None, None)
