"""The house rules: gravity, room sizes, names, complete lists."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = (
    "agent",
    "core",
    "docrouter",
    "documents",
    "llm",
    "organizations",
    "prompts_app",
    "schemas_app",
    "search",
    "tags_app",
    "webhooks",
)
CODE = sorted(
    path
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts and "__pycache__" not in path.parts
)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
BANNED_NAMES = {"utils", "helpers", "common", "misc", "manager"}
ROW_ROOMS = {
    # of every app, then parts of documents' processing and services, then of the agent's services and runner
    *("models", "selectors", "services", "processing", "transcript", "gate", "idempotency"),
    *("admission", "awaiting", "events", "extraction", "results", "states", "withdrawal"),
    *("auto_create", "clearing", "leaving", "reusing", "reviewing"),
    *("publishing", "redaction", "spreading", "purging"),
    *("deciding", "driving", "endings", "keeping", "leases", "policy", "reaping"),
}


def functions(path: Path) -> list[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_room_is_larger_than_four_hundred_lines() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in CODE}
    assert {name: size for name, size in sizes.items() if size > 400} == {}


def test_no_function_is_longer_than_forty_five_lines() -> None:
    assert [entry for path in CODE for entry in functions(path) if entry[1] > 45] == []


def test_no_template_is_longer_than_sixty_lines() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in TEMPLATES}
    assert {name: size for name, size in sizes.items() if size > 60} == {}


def test_every_room_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT)) for path in CODE if ast.get_docstring(ast.parse(path.read_text("utf-8"))) is None
    ]
    assert silent == []


def test_no_room_has_a_name_that_says_nothing() -> None:
    assert [str(path.relative_to(ROOT)) for path in CODE if path.stem in BANNED_NAMES] == []


def test_imports_stand_at_the_top() -> None:
    inside = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in CODE
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    allowed = [
        entry for entry in inside if entry.startswith("llm/runtime.py")
    ]  # litellm: seconds to import, warmed in a thread
    assert [entry for entry in inside if entry not in allowed] == []


def test_rows_are_reached_only_in_the_rooms_that_keep_them() -> None:
    outside = [
        str(path.relative_to(ROOT))
        for path in CODE
        if path.stem not in ROW_ROOMS and re.search(r"\.objects\b", path.read_text(encoding="utf-8"))
    ]
    assert outside == []


@pytest.mark.parametrize(
    ("needle", "rooms"),
    [
        (r"\.a?(completion|embedding)\(", {"llm/client.py", "llm/embeddings.py", "llm/runtime.py"}),
        (r"\baccess\(", {"llm/requests.py", "llm/embeddings.py"}),
        (r"\bNO_DOCUMENT\b", {"llm/sources.py", "llm/catalog.py", "llm/api/runs.py"}),
        (r"\bSources\(", {"llm/sources.py", "documents/leaving.py"}),
    ],
)
def test_what_is_sent_to_a_model_passes_the_one_gate(needle: str, rooms: set[str]) -> None:
    """Who sends says whose text it is (mypy holds that); here: nobody sends by himself, or says “no document”."""
    found = {str(path.relative_to(ROOT)) for path in CODE if re.search(needle, path.read_text(encoding="utf-8"))}
    assert found == rooms


@pytest.mark.parametrize("kind", ["signals", "except Exception:\n        pass"])
def test_what_we_never_do_is_nowhere(kind: str) -> None:
    needle = {"signals": r"from django\.(db\.models|dispatch).*(signals|receiver)"}.get(kind, re.escape(kind))
    assert [str(path.relative_to(ROOT)) for path in CODE if re.search(needle, path.read_text(encoding="utf-8"))] == []


def test_imports_only_fall() -> None:
    outcome = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert outcome.returncode == 0, outcome.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("core/ids.py", "import documents.models"),
        ("documents/selectors.py", "import documents.services"),
        ("documents/tasks.py", "import documents.services"),
        ("agent/loop.py", "import django"),
        ("agent/toolbox.py", "import agent.loop"),
        ("tags_app/selectors.py", "import schemas_app.models"),
        ("agent/tools/tags.py", "import tags_app.models"),
        ("llm/offline/engine.py", "import litellm"),
        ("documents/ingest/textlayer.py", "import django"),
    ],
)
def test_a_planted_import_that_climbs_turns_a_contract_red(room: str, line: str, tmp_path: Path) -> None:
    house = tmp_path / "house"
    for app in APPS:
        shutil.copytree(ROOT / app, house / app, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", house)
    path = house / room
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    outcome = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=house,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(house), "PATH": "/usr/bin:/bin"},
    )
    assert outcome.returncode == 1, outcome.stdout[-2000:]


def test_nothing_in_the_repository_names_a_package_index_or_a_path_of_one_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    needle = re.compile(r"index-url|https?://[^\s\"']*/(simple|packages)/|/" + r"work/|/" + r"root/")
    texts = {".py", ".md", ".txt", ".toml", ".html", ".js", ".css", ".yaml", ".yml", ".cfg", ".sh", ""}
    named = [
        name
        for name in listed
        if name and name != "tests/test_house.py" and Path(name).suffix in texts
        if (ROOT / name).is_file() and needle.search((ROOT / name).read_text(encoding="utf-8", errors="ignore"))
    ]
    assert named == []


def test_the_names_of_tests_are_the_same_in_every_process() -> None:
    """Workers collect for themselves: a name made from a clock or a die differs between them and ends the run."""
    changing = {"now", "today", "time", "time_ns", "monotonic", "perf_counter", "uuid1", "uuid4", "new_id", "urandom"}
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            marks = getattr(function, "decorator_list", [])
            calls = [node.func for mark in marks for node in ast.walk(mark) if isinstance(node, ast.Call)]
            names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
            found += [f"{path.relative_to(ROOT)}:{getattr(function, 'lineno', 0)} {name}" for name in names & changing]
    assert found == []
