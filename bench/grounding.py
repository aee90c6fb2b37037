"""How grounding does: `python -m bench.grounding [FOLDER…]`.

With folders (an `index.json` in each, as for `bench.offline_accuracy`): true values spelled as language models spell
them, and inventions; for each spelling the share located, those at a wrong place, inventions that were located.

Without: how long it takes to find values on the pages of a long document.

The document is made here: 50 pages of rows with a description, a date and amounts, every word with its box. Beside our
grounding a bare search of the same values, as they are written, in the same text: no boxes, no rows, no other spelling.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bench.accuracy.any_model import Tally, tally
from bench.accuracy.reading import read_folder
from documents.grounding import ground, leaves_of
from llm.content import PageContent, Word

Json = dict[str, Any]
ROWS_ON_A_PAGE = 45
NOUNS = ("delivery", "repair", "rental", "licence", "training", "transport", "storage", "support")
COLUMNS = (0.08, 0.2, 0.32, 0.5, 0.65, 0.8)


def row_of(number: int) -> Json:
    """What a row says, as a model would give it back."""
    quantity, price = number % 9 + 1, (number * 37 % 9000 + 100) / 100
    return {
        "reference": f"R-{number:05d}",
        "service": f"{NOUNS[number % len(NOUNS)]} {NOUNS[number // 7 % len(NOUNS)]}",
        "day": (date(2024, 1, 1) + timedelta(days=number % 700)).isoformat(),
        "quantity": quantity,
        "total": round(quantity * price, 2),
    }


def printed(row: Json) -> list[str]:
    """The words of a row as they stand on paper: another spelling of dates and amounts."""
    day = date.fromisoformat(row["day"])
    return [row["reference"], *row["service"].split(), f"{day:%d.%m.%Y}", str(row["quantity"]), f"{row['total']:,.2f}"]


def make_pages(count: int) -> list[PageContent]:
    pages = []
    for page in range(count):
        words: list[Word] = []
        lines = []
        for line in range(ROWS_ON_A_PAGE):
            texts = printed(row_of(page * ROWS_ON_A_PAGE + line))
            top = 0.05 + line * 0.02
            words += [
                Word(text, left, top, left + 0.012 * len(text), top + 0.012, line=line)
                for left, text in zip(COLUMNS, texts, strict=True)
            ]
            lines.append(" ".join(texts))
        pages.append(PageContent(page + 1, 595, 842, "\n".join(lines), tuple(words)))
    return pages


def made_data(leaves: int, pages: int) -> Json:
    """Rows from all over the document."""
    rows = leaves // len(row_of(0))
    step = pages * ROWS_ON_A_PAGE // rows
    return {"lines": [row_of(number * step) for number in range(rows)]}


def bare_search(data: Json, pages: Sequence[PageContent]) -> int:
    """How many values stand somewhere as they are written."""
    texts = [page.text.casefold() for page in pages]
    return sum(any(str(value).casefold() in text for text in texts) for _, value in leaves_of(data))


def best(run: Callable[[], object], times: int = 3) -> float:
    """Units: milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
    return min(taken)


def print_spellings(counts: dict[str, Tally], *, examples: int) -> None:
    """One line for each spelling, a sum of the true ones and of the inventions, and examples of what went wrong."""
    print(f"{'':42}{'asked':>7}{'located':>9}{'':>8}{'wrong':>7}{'doubtful':>10}{'invented found':>16}")
    for name, rows in (*((name, [row]) for name, row in counts.items()), ("ALL", list(counts.values()))):
        true = [row for row in rows if row.located or row.missed]
        asked, located = sum(row.located + len(row.missed) for row in true), sum(row.located for row in true)
        share = f"{located / asked:.1%}" if asked else ""
        wrong, doubtful = (sum(len(getattr(row, kind)) for row in rows) for kind in ("wrong", "doubtful"))
        invented = sum(len(row.invented) for row in rows)
        whole = sum(row.asked for row in rows)
        print(f"{name:42}{whole:>7}{located:>9}{share:>8}{wrong:>7}{doubtful:>10}{invented:>16}")
    for name, row in counts.items():
        for kind in ("missed", "wrong", "doubtful", "invented"):
            for told in getattr(row, kind)[:examples]:
                print(f"  {name}: {kind}: {told}")


def main() -> None:
    """Print milliseconds, or with folders what was located."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--cache", type=Path, help="where what was read is kept")
    parser.add_argument("--only", default="", help="only spellings with this in their name")
    parser.add_argument("--examples", type=int, default=3, help="how many of each kind of mistake are printed")
    options = parser.parse_args()
    if options.folders:
        cases = chain.from_iterable(read_folder(folder, cache=options.cache) for folder in options.folders)
        print_spellings(tally(cases, only=options.only), examples=options.examples)
        sys.exit()
    print_times(options.pages)


def print_times(count: int) -> None:
    """Print milliseconds for each 100 leaves beside the bare search, and how many were found."""
    pages = make_pages(count)
    words = sum(len(page.words) for page in pages)
    print(f"{count} pages, {words} words; the best of three:")
    print(
        f"{'leaves':>8}{'ground ms':>11}{'per 100':>9}{'found':>8}{'ambiguous':>11}"
        f"{'bare ms':>10}{'per 100':>9}{'seen':>7}{'× bare':>8}"
    )
    for leaves in (100, 500, 1000):
        data = made_data(leaves, count)
        ours = best(partial(ground, data=data, pages=pages))
        bare = best(partial(bare_search, data, pages))
        states = Counter(item.state for item in ground(data=data, pages=pages).values())
        print(
            f"{leaves:>8}{ours:>11.0f}{ours * 100 / leaves:>9.0f}{states['found'] / leaves:>8.0%}"
            f"{states['ambiguous'] / leaves:>11.0%}{bare:>10.1f}{bare * 100 / leaves:>9.1f}"
            f"{bare_search(data, pages) / leaves:>7.0%}{ours / bare:>8.0f}"
        )
    print("Ours says page, box and quote of a value, however the paper spells it; bare only whether it is somewhere.")


if __name__ == "__main__":
    main()
