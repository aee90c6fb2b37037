"""A real browser in front of a real site. A console error or a failed request fails the journey that caused it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect, sync_playwright

from tests.browser.site import EMAIL, PASSWORD, Site, running_site

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OpenPage = Callable[..., Page]
expect.set_options(timeout=30_000)  # the first call of a model waits for its library


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Started once for all journeys."""
    with running_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What went wrong in pages of this test; a journey that provokes an error removes what it expected."""
    return []


@pytest.fixture(scope="module")
def email() -> str:
    """Who signs in; journeys that leave things behind which others would meet say `newcomer` instead."""
    return EMAIL


def newcomer(site: Site, name: str) -> str:
    """The address of somebody new, with an organization of their own."""
    email = f"ada.{name}@example.com"
    site.manage("create_user", "--email", email, "--password", PASSWORD)
    site.manage("create_organization", "--name", f"Ada's {name}", "--owner", email)
    return email


@pytest.fixture
def open_page(site: Site, browser: Browser, email: str, complaints: list[str]) -> Iterator[OpenPage]:
    """Open pages of one size and theme, each in a browser profile of its own."""
    contexts: list[BrowserContext] = []

    def open_one(width: int = 1440, height: int = 900, scheme: str = "light", signed_in: bool = True) -> Page:
        context = browser.new_context(
            base_url=site.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watch(page, complaints)
        if signed_in:
            sign_in(page, email)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def watch(page: Page, complaints: list[str]) -> None:
    """Note everything that a person would find in the browser's console."""
    page.on("console", lambda said: complaints.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    page.on("response", lambda answer: _note_failure(answer, complaints))


def _note_failure(answer: Response, complaints: list[str]) -> None:
    if answer.status >= 400:
        complaints.append(f"{answer.status}: {answer.request.method} {answer.url}")


def sign_in(page: Page, email: str) -> None:
    """Sign in and wait for the first page."""
    page.goto("/sign-in")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/documents")


@pytest.fixture(scope="session")
def sample() -> Path:
    """The statement that the demo shows."""
    return Path(__file__).resolve().parents[2] / "docrouter/samples/statement-en-contoso-1.pdf"
