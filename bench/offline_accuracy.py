"""How right the offline model is: `python -m bench.offline_accuracy [FOLDER] [--html REPORT] [--cache DIR]`.

FOLDER has an `index.json` that names documents and their true values. Without one, three sets are made and scored:
the designed documents (`bench.designs`), the half that rules were developed with apart from the half that is only
scored, and papers of `bench.papers` that nothing was developed with. For each kind and layout it prints
(a) the share of leaves that are right when the schema has the truth's field names,
(b) the share of true values that its own proposed schema finds,
(c) values that stand nowhere on the page, (d) how many true values grounding locates, and how many at a wrong place.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.accuracy.reading import Case, read_folder
from bench.accuracy.report import Miss, write_report
from bench.accuracy.scoring import Score, at, leaves, same, schema_of, score_places, stands_on_page
from bench.designs.__main__ import make_folder as print_designs
from bench.papers.__main__ import make_folder
from llm.offline.engine import reply

PAPERS = 150

HEAD = f"{'':34}{'(a) given':>16}{'(b) own':>16}{'(c) invented':>14}{'(d) located':>16}{'wrong':>7}{'s/page':>8}"
GOAL = f"{'goal; forms, photographs: (a) 70 %':34}{'85.0%':>16}{'70.0%':>16}{'0':>14}{'98.0%':>16}{'0':>7}{'0.300':>8}"
IMPORT = "import time; import llm.offline.engine; print(time.process_time())"


def extract(case: Case, schema: Mapping[str, Any] | None) -> Any:
    """What the offline model answers: for a schema, or (None) for the one that it proposes itself."""
    wanted = {"type": "json_object"}
    if schema is not None:
        wanted = {"type": "json_schema", "json_schema": {"name": "truth", "strict": True, "schema": schema}}
    answer = reply(messages=[], tools=[], document=case.content, response_format=wanted)
    return json.loads(answer.text)


def judge(case: Case) -> tuple[Score, list[Miss]]:
    """Score one document; the misses are for the report."""
    score, misses = Score(pages=len(case.content.pages)), []
    started = time.perf_counter()
    given = extract(case, schema_of(case.fields))
    score.seconds = time.perf_counter() - started
    sign_counts = case.kind != "credit_note"
    for path, wanted in leaves(case.fields):
        score.leaves += 1
        got = at(given, path)
        if same(wanted, got, sign_counts=sign_counts):
            score.right += 1
        else:
            misses.append(Miss(".".join(map(str, path)), wanted, got))
    own = extract(case, None)
    values = [value for _, value in leaves(own)]
    for _, wanted in leaves(case.fields):
        if wanted is not False:
            score.true_values += 1
            score.found_by_own_schema += any(same(wanted, value, sign_counts=False) for value in values)
    for answer in (given, own):
        for path, value in leaves(answer):
            score.given += 1
            if not stands_on_page(value, case.content.text):
                score.invented.append(f"{case.name} {'.'.join(map(str, path))}: {value!r}")
    score_places(case, score)
    return score, misses


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:5.1f}%" if whole else "-"


def line(name: str, score: Score) -> str:
    return (
        f"{name:34}{share(score.right, score.leaves):>16}{share(score.found_by_own_schema, score.true_values):>16}"
        f"{len(score.invented):>14}{share(score.located, score.to_locate):>16}{len(score.wrong_place):>7}"
        f"{score.seconds / max(score.pages, 1):>8.3f}"
    )


def made_sets(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is scored when nothing else is asked for: a name, and the folder it was made in."""
    for half, name in (
        ("developed", "designed documents, developed with"),
        ("scored", "designed documents, only scored"),
    ):
        yield name, print_designs(folder / half, half)
    make_folder(folder / "papers", range(1, 2 * PAPERS, 2))
    yield f"{PAPERS} made papers, only scored", folder / "papers"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("folder", nargs="?", type=Path)
    arguments.add_argument("--html", type=Path)
    arguments.add_argument("--cache", type=Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--quiet", action="store_true", help="only the totals")
    chosen = arguments.parse_args()
    if chosen.folder:
        measure(chosen.folder, cache=chosen.cache, only=chosen.only, quiet=chosen.quiet, html=chosen.html)
        return 0
    for name, folder in made_sets(Path(tempfile.mkdtemp(prefix="docrouter-papers-"))):
        sys.stdout.write(f"\n{name}\n")
        measure(folder, cache=chosen.cache, only=chosen.only, quiet=True, html=None)
    begun = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout
    sys.stdout.write(f"\nPython with the engine, nothing read yet: {float(begun):.2f} s of CPU\n")
    return 0


def measure(folder: Path, *, cache: Path | None, only: str, quiet: bool, html: Path | None) -> None:
    """Score a folder and print the figures; with `html`, write the report."""
    groups: dict[str, Score] = defaultdict(Score)
    reported: list[tuple[Case, Score, list[Miss]]] = []
    sys.stdout.write(f"{HEAD}\n{GOAL}\n")
    for case in read_folder(folder, cache=cache, only=only):
        score, misses = judge(case)
        for group in (f"kind {case.kind}", f"layout {case.layout}", f"language {case.language}", "all"):
            groups[group].add(score)
        reported.append((case, score, misses))
        if not quiet:
            sys.stdout.write(line(case.name, score) + "\n")
    for name in sorted(groups, key=lambda group: (group == "all", group)):
        sys.stdout.write(line(name, groups[name]) + "\n")
    for problem in (*groups["all"].invented, *groups["all"].wrong_place)[:40]:
        sys.stdout.write(f"  {problem}\n")
    if html:
        write_report(html, reported)


if __name__ == "__main__":
    raise SystemExit(main())
