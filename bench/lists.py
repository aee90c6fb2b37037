"""What a page of the list of documents costs among 1,000 and among 100,000 documents: `python -m bench.lists`.

In a database of its own, with a second tenant of the same size beside it. Every way to search, filter and sort goes
through the selector that the pages and the API call. The count is timed once more on its own; what is left of the
whole is the page of rows. Large and small take turns, so that a busy machine slows both.
"""

# ruff: noqa: E402 - Django has to be set up before its models are imported

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.db import connection

from documents.listing import found, narrowed, with_metadata, with_tags
from documents.models import Document
from documents.selectors import COUNT_LIMIT, list_documents, tally
from organizations.actor import Actor
from organizations.gate import owned
from organizations.models import Organization
from tags_app.models import Tag
from tags_app.selectors import get_tags
from tests.conftest import make_person
from tests.documents.many import RARE, fill, tidy

GOAL_RATIO, GOAL_COUNT_MS = 1.5, 20.0
SHORTEST_MS = 1.0  # below, the difference of two clocks says nothing
DEEP = 50_000

Query = dict[str, Any]
Variants = dict[str, Query]


class Case(NamedTuple):
    """An organization and what its lists are asked."""

    actor: Actor
    variants: Variants


class Cost(NamedTuple):
    """Milliseconds."""

    rows: float
    count: float


def sort(field: str, direction: str) -> Query:
    return {"sort": json.dumps([{"field": field, "sort": direction}])}


def where(*items: tuple[str, str, object], either: bool = False) -> Query:
    conditions = [{"field": field, "operator": operator, "value": value} for field, operator, value in items]
    return {"filters": json.dumps({"items": conditions, "logicOperator": "or" if either else "and"})}


def variants(tags: Sequence[Tag]) -> Variants:
    common, other, rare = tags[0].pk.hex, tags[7].pk.hex, tags[-1].pk.hex
    found: Variants = {"default order": {}}
    for field in ("document_name", "state", "uploaded_by", "upload_date"):
        for direction in ("asc", "desc"):
            found[f"sort {field} {direction}"] = sort(field, direction)
    searches = {
        "frequent": "invoice", "inside": "contoso", "suffix of all": ".pdf", "rare": RARE, "none": "qqqqqq",
        "one letter": "e", "two letters": "fa", "two letters, none": "zq",
    }  # fmt: skip
    found |= {f"name: {name}": {"name_search": text} for name, text in searches.items()}
    found |= {
        "tag, on 1 in 15": {"tag_ids": [common]},
        "tag, on 20": {"tag_ids": [rare]},
        "two tags": {"tag_ids": [tags[1].pk.hex, other]},
        "metadata, on 1 in 4": {"metadata_search": "kind=invoice"},
        "metadata, on 5": {"metadata_search": "kind=invoice,case=C-7"},
        "filter state": where(("state", "is", "ocr_failed")),
        "filter state any of": where(("state", "isAnyOf", ["ocr_failed", "uploaded"])),
        "filter uploaded_by equals": where(("uploaded_by", "equals", "ada")),
        "filter uploaded_by nobody": where(("uploaded_by", "equals", "nobody")),
        "filter name contains rare": where(("document_name", "contains", RARE)),
        "filter name starts with": where(("document_name", "startsWith", "contract")),
        "filter upload_date is": where(("upload_date", "is", "2026-01-01")),
        "filter upload_date after": where(("upload_date", "after", "2026-01-01")),
        "filter tag_ids contains": where(("tag_ids", "contains", common)),
        "filter tag_ids any of": where(("tag_ids", "isAnyOf", [other, rare])),
        "filter tag_ids is empty": where(("tag_ids", "isEmpty", None)),
        "state and name": {"name_search": "invoice", **where(("state", "is", "llm_completed"))},
        "tag, name, sorted by name": {"tag_ids": [common], "name_search": "invoice", **sort("document_name", "asc")},
        "state or uploader": where(("state", "is", "uploaded"), ("uploaded_by", "is", "Eve"), either=True),
    }
    return found


def counting(actor: Actor, query: Query) -> Callable[[], int]:
    """The count of a list on its own. In the list, one statement counts and finds the page when that is among few."""
    if not query.keys() - {"sort", "skip", "limit"}:
        return partial(tally, actor=actor)
    tags = get_tags(actor=actor, tag_ids=query["tag_ids"]) if "tag_ids" in query else []
    rows = with_metadata(with_tags(owned(Document, actor), tags), query.get("metadata_search"))
    asked = {"name_search": query.get("name_search"), "filters": query.get("filters")}
    rows = found(rows, **asked)
    return lambda: narrowed(rows, actor=actor, **asked).order_by()[:COUNT_LIMIT].count()


def timed(case: Case, name: str) -> Cost:
    """The whole list, less the count."""
    count = counting(case.actor, case.variants[name])
    marks = [time.perf_counter()]
    for step in (partial(list_documents, actor=case.actor, **case.variants[name]), count):
        step()
        marks.append(time.perf_counter())
    whole, alone = ((later - sooner) * 1000 for sooner, later in pairwise(marks))
    return Cost(max(whole - alone, 0.0), alone)


def middle_and_high(values: Sequence[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=20)[-1]


def line(name: str, small: list[Cost], large: list[Cost]) -> tuple[float, float]:
    """Print the figures of one variant. Returns the ratio of the rows and the count's 95th percentile."""
    few, many = (middle_and_high([cost.rows for cost in costs]) for costs in (small, large))
    few_count, many_count = (middle_and_high([cost.count for cost in costs]) for costs in (small, large))
    ratio = max(many[0], SHORTEST_MS) / max(few[0], SHORTEST_MS)
    marks = (" rows!" if ratio > GOAL_RATIO else "") + (" count!" if many_count[1] > GOAL_COUNT_MS else "")
    shown = "".join(f"{value:8.2f}" for value in (*few, *many, ratio, *few_count, *many_count))
    print(f"{name:<28}{shown}{marks}")
    return ratio, many_count[1]


@contextmanager
def database_of_its_own() -> Iterator[None]:
    name = f"bench_lists_{os.getpid()}"
    connection.settings_dict["TEST"]["NAME"] = name
    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


def filled(name: str, count: int) -> Case:
    person = make_person(f"{name}@example.com")
    return Case(person.actor, variants(fill(person.organization, count)))


def measure(small: Case, large: Case, times: int) -> None:
    print(f"{'milliseconds':<28}{'rows of few':>16}{'rows of many':>16}{'ratio':>8}{'count of few':>16}{'of many':>16}")
    print(f"{'':<28}" + f"{'p50':>8}{'p95':>8}" * 2 + " " * 8 + f"{'p50':>8}{'p95':>8}" * 2)
    ratios, counts = [], []
    for name in small.variants:
        costs: tuple[list[Cost], list[Cost]] = ([], [])
        for turn in range(times + 2):
            for case, kept in zip((small, large), costs, strict=True):
                cost = timed(case, name)
                if turn > 1:  # the first two fill caches
                    kept.append(cost)
        ratio, count = line(name, *costs)
        ratios.append(ratio)
        counts.append(count)
    good, quick = sum(r <= GOAL_RATIO for r in ratios), sum(c <= GOAL_COUNT_MS for c in counts)
    print(f"rows: ratio of p50 at most {GOAL_RATIO} in {good} of {len(ratios)}, highest {max(ratios):.2f}")
    print(
        f"count among many: p95 at most {GOAL_COUNT_MS:.0f} ms in {quick} of {len(counts)}, highest {max(counts):.1f}"
    )


def apart(large: Case, times: int) -> None:
    """What is paid for by going far, and what no index can order."""
    common = next(iter(large.variants["tag, on 1 in 15"]["tag_ids"]))
    asked = {
        f"skip {DEEP:,}": {"skip": DEEP},
        f"skip {DEEP:,} by name": {"skip": DEEP, **sort("document_name", "asc")},
        "sort by tags": sort("tag_ids", "asc"),
        "sort by tags, one tag": {"tag_ids": [common], **sort("tag_ids", "asc")},
        "1,000 rows": {"limit": 1000},
    }
    print("\nbeside the goals, among many: rows p50, p95; count p50, p95")
    for name, query in asked.items():
        costs = [timed(Case(large.actor, {name: query}), name) for _ in range(times)]
        rows, count = (middle_and_high(values) for values in zip(*costs, strict=True))
        print(f"{name:<28}" + "".join(f"{value:8.2f}" for value in (*rows, *count)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=25)
    options = parser.parse_args()
    with database_of_its_own():
        small, large = filled("small", options.few), filled("large", options.many)
        fill(Organization.objects.create(name="noise"), options.many)
        tidy()
        print(
            f"{Document.objects.count():,} documents; one organization has {options.few:,}, the other {options.many:,}"
        )
        measure(small, large, options.times)
        apart(large, max(options.times // 3, 5))


if __name__ == "__main__":
    main()
