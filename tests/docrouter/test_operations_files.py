"""The files for operators say what the code does: variables, commands, paths."""

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from docrouter.run import knobs, programs

ROOT = Path(__file__).resolve().parent.parent.parent
READERS = {"str", "int", "float", "bool", "list", "get", "_number", "_is_given", "url", "json", "email_url"}
NOT_FOR_PEOPLE = {
    "PATH",  # of the machine
    "DJANGO_SETTINGS_MODULE",
    "PROMETHEUS_MULTIPROC_DIR",  # set by the supervisor; docs/deployment.md
}


def variables_read(path: Path) -> Iterator[str]:
    """Names in calls like env.int("NAME"), environ.get("NAME"), _number(environ, "NAME")."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if name in READERS:
                yield from (word for word in words if re.fullmatch(r"[A-Z][A-Z0-9_]+", word))


def read_by_the_code() -> set[str]:
    files = [ROOT / "docrouter" / "settings.py"]
    files += [*(ROOT / "docrouter" / "run").glob("*.py"), *(ROOT / "docrouter" / "embedded").glob("*.py")]
    found = {name for path in files for name in variables_read(path)}
    for provider in settings.MODEL_PROVIDERS:
        found |= {f"{provider.upper()}_API_KEY", f"{provider.upper()}_API_BASE"}
    return {name for name in found if not name.endswith("_FILE")} - NOT_FOR_PEOPLE


def named_in_the_example() -> set[str]:
    return set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_the_example_lists_every_variable_that_is_read_and_no_other() -> None:
    read = read_by_the_code()
    assert {"DATABASE_URL", "PORT", "WEB_PROCESSES", "SECRET_KEY", "METRICS_TOKEN"} <= read, "the search works"
    assert read - named_in_the_example() == set(), "missing in .env.example"
    assert named_in_the_example() - read == set(), "read by nothing"


def test_the_example_changes_nothing_when_copied() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == []


def compose() -> dict[str, dict[str, object]]:
    services: dict[str, dict[str, object]] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return services


def test_compose_starts_the_same_workers_as_make_run() -> None:
    for program in programs.background(knobs.read({}), Path("/data/beat-schedule")):
        ours = [word for word in program.command[3:] if word not in ("-c", "8")]
        theirs = compose()[program.name]["command"]
        assert isinstance(theirs, list)
        missing = [word for word in ours if word not in theirs and not word.isdigit()]
        assert missing == [], program.name


def test_compose_sets_only_variables_that_are_read() -> None:
    environment = compose()["web"]["environment"]
    assert isinstance(environment, dict)
    assert set(environment) - read_by_the_code() == set()


def test_compose_publishes_nothing_but_the_web_server_to_this_machine() -> None:
    published = {name: service["ports"] for name, service in compose().items() if "ports" in service}
    assert published == {"web": ["127.0.0.1:8000:8000"]}


def test_dockerfile_copies_what_is_there_and_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert any(line.startswith("USER ") and "root" not in line for line in lines)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_the_unit_file_is_understood_by_systemd(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "deploy" / "docrouter.service").read_text()
    unit = tmp_path / "docrouter.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "docrouter" in line]
    assert ours == []


@pytest.mark.parametrize("name", ["docs/deployment.md", "Makefile", ".ci/run"])
def test_commands_in_the_pages_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake (?!sure)([a-z-]+)", text)) <= targets
    commands = {path.stem for path in ROOT.glob("*/management/commands/*.py")} | {"check", "spectacular"}
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) <= commands
