"""`@docrouter/sdk` 1.0.0 as it is on npm: each method of its two clients, called by a script under Node."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.conf import settings

from tests.clients.conftest import EMAIL, ORGANIZATION, Live
from tests.clients.test_python_sdk import PDF
from tests.notes import note

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("clients")]
SCRIPTS = Path(__file__).parent / "node"
METHODS = {"account": 44, "organization": 55}
OUT_OF_SCOPE = {"account": 13, "organization": 19}
INSTALL_SECONDS, CALL_SECONDS = 180, 420


def skip(reason: str) -> NoReturn:
    """Skip, and have it said at the very end."""
    note(f"THE NPM CLIENT WAS NOT TRIED: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def scripts() -> Path:
    """The scripts beside the client, which is installed as the lock file says and kept for the next run."""
    if not (shutil.which("node") and shutil.which("npm")):
        skip("no node and npm here. apt-get install nodejs npm")
    lock = hashlib.sha256((SCRIPTS / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(settings.DATA_DIR) / f"node-{lock}"
    shutil.copytree(SCRIPTS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    if not (folder / "installed").exists():
        install(folder)
        (folder / "installed").touch()
    return folder


def install(folder: Path) -> None:
    """`npm ci`, with npm's own cache kept beside it."""
    command = ["npm", "ci", "--cache", str(folder / ".npm")]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        skip("npm ci did not end in time")
    if done.returncode:
        skip(f"npm ci: {done.stderr.strip()[-300:]}")


@pytest.fixture(scope="session")
def report(scripts: Path, live: Live) -> dict[str, dict[str, Any]]:
    """What became of each method."""
    given = {
        "url": live.site.url,
        "letters": str(live.site.folder / "letters"),
        "userId": live.user_id,
        "email": EMAIL,
        "organizationId": live.organization_id,
        "organizationName": ORGANIZATION,
        "accountToken": live.account_token,
        "sessionToken": live.session_token,
        "organizationToken": live.organization_token,
        "pdf": base64.b64encode(PDF).decode(),
    }
    done = subprocess.run(
        ["node", "call_everything.mjs"],
        cwd=scripts,
        env={**os.environ, "DOCROUTER_TEST": json.dumps(given)},
        capture_output=True,
        text=True,
        timeout=CALL_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-3000:] + live.site.log("web")
    sys.stderr.write(done.stderr[-3000:])  # shown beside what fails
    answer: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_of_the_npm_client_gets_what_it_asks_for(kind: str, report: dict[str, dict[str, Any]]) -> None:
    methods = report[kind]
    ends = [one["outcome"] for one in methods.values()]
    wrong = {name: one for name, one in methods.items() if one["outcome"] not in {"fine", "out of scope"}}
    assert not wrong, "\n".join(f"{name}: {one['outcome']}: {one.get('error')}" for name, one in wrong.items())
    assert len(ends) == METHODS[kind]
    assert ends.count("out of scope") == OUT_OF_SCOPE[kind]
