"""The README's examples of the API, run as they are written, against a running product."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import Live
from tests.data import make
from tests.live import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("clients")]
API, V1 = "API", "Document-first: `/v1`"
INVOICE = make.pdf(("Invoice", "Invoice number: A-4711", "Date: 2026-03-01", "Acme Tools Ltd", "Total: 1,250.00"))


def example(language: str, section: str = API) -> str:
    """The one block in this language of a section of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(section)}\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    assert found, f"the README has no section {section}"
    blocks = re.findall(rf"^```{language}\n(.*?)^```", found[1], re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    return str(blocks[0])


def run(command: list[str], live: Live, folder: Path) -> str:
    """What an example prints, in a folder with an invoice, with the three variables that the README names."""
    (folder / "invoice.pdf").write_bytes(INVOICE)
    environment = os.environ | {
        "DOCROUTER_URL": live.site.url,
        "DOCROUTER_ORG": live.organization_id,
        "DOCROUTER_TOKEN": live.organization_token,
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_python_example_has_ten_lines_and_prints_the_fields(live: Live, tmp_path: Path) -> None:
    code = example("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    assert "'document_type'" in run([sys.executable, "-c", code], live, tmp_path)


needs_curl = pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")


@needs_curl
def test_the_curl_example_asks_approves_and_streams_the_rest(live: Live, tmp_path: Path) -> None:
    shown = run(["bash", "-euo", "pipefail", "-c", example("bash")], live, tmp_path)
    assert '"create_schema"' in shown
    frames = [line for line in shown.splitlines() if line.startswith("data: ")]
    assert '"type":"done"' in frames[-1].replace(" ", "")


@needs_curl
def test_the_walk_through_v1_goes_from_a_file_to_what_everybody_may_read(live: Live, tmp_path: Path) -> None:
    shown = run(["bash", "-euo", "pipefail", "-c", example("bash", V1)], live, tmp_path)
    told = re.findall(r"^(\d+) ([a-z]+\.[a-z_.]+)$", shown, re.MULTILINE)
    assert [int(seq) for seq, _ in told] == list(range(1, len(told) + 1))
    types = [type_ for _, type_ in told]
    assert types[0] == "document.uploaded"
    assert {"run.started", "page.parsed", "run.completed", "extraction.completed"} <= set(types)
    assert '"phase": "complete"' in shown
    assert '"verified": true' in shown
    assert "1,250.00" in shown
    assert f"{live.site.url}/s/" in shown
    assert shown.rstrip().endswith("}"), "the publication, read without a token"
