"""The main job in a browser: ask, read the cards, decide, see fields and where they stand; nothing is ever lost."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.site import Site
from tests.browser.test_documents import open_document, upload
from tests.data import make

pytestmark = pytest.mark.browser
SET_UP = "Set up extraction for this document"


def opened(page: Page, name: str, *lines: str, width: int = 1440) -> None:
    """Upload a document with these lines and open its Agent tab."""
    upload(page, {"name": name, "mimeType": "application/pdf", "buffer": make.pdf(lines or (*make.INVOICE, name))})
    open_document(page, name)
    to_agent(page)


def to_agent(page: Page) -> None:
    page.get_by_role("tab", name="Agent").click()
    ready(page)


def ready(page: Page) -> None:
    """The tab is there and its script runs."""
    expect(page.locator("#agent-panel[data-ready] #composer-text")).to_be_visible(timeout=15_000)


def ask(page: Page, text: str) -> None:
    page.locator("#composer-text").fill(text)
    page.locator("#composer-text").press("Enter")
    expect(page.locator("#turns .said").last).to_have_text(text)
    expect(page.locator("#composer-text")).to_have_value("")


expect.set_options(timeout=15_000)
FIRST_ANSWER = 60_000
"""Milliseconds: the first turn of a fresh server waits until litellm is imported, long on a busy machine."""


def card(page: Page, title: str = "") -> Locator:
    """The card that waits; its title is awaited."""
    found = page.locator("#turns [data-card]", has_text=title).first
    expect(found).to_be_visible(timeout=FIRST_ANSWER)
    return found


def approve(page: Page, title: str) -> None:
    card(page, title).get_by_role("button", name="Approve").first.click()
    expect(page.locator("#turns [data-card]", has_text=title)).to_have_count(0)


def test_the_main_job_from_upload_to_a_highlighted_field(open_page: OpenPage, sample: Path) -> None:
    page = open_page()
    upload(page, sample)
    open_document(page, sample.name)
    expect(page.get_by_role("tab", name="Agent")).to_have_attribute("aria-selected", "true")
    ready(page)
    ask(page, SET_UP)

    schema = card(page, "Create schema “Project Statement”")
    expect(schema).to_be_focused()
    expect(page).to_have_title(re.compile(r"^\(Waiting\)"))
    expect(page.locator("#waiting-count")).to_have_text("1")
    example = schema.locator("[data-highlight]", has_text="2468")
    example.click()
    expect(page.locator("#page-1 .mark.chosen")).to_have_count(1)

    page.reload()
    expect(page.locator("#turns .said")).to_have_text([SET_UP])
    schema = card(page, "Create schema “Project Statement”")
    schema.get_by_role("button", name="Edit").click()
    first = schema.locator("[name='field-name']").first
    expect(first).to_have_value("document_number")
    first.fill("receipt_number")
    schema.get_by_role("button", name="Approve with these changes").click()
    expect(page.locator("#turns .ran", has_text="Created schema “Project Statement”")).to_be_visible()

    approve(page, "Create prompt")
    page.reload()
    run = card(page, "Run the extraction")
    run.focus()
    page.keyboard.press("a")
    expect(page.locator("#turns .answer").last).to_contain_text("receipt_number: 2468")
    expect(page.locator("#agent-status")).to_have_attribute("data-status", "done")
    expect(page).not_to_have_title(re.compile("Waiting"))

    said = page.locator("#turns").inner_text()
    page.reload()
    to_agent(page)
    expect(page.locator("#turns .turn")).to_have_count(1)
    assert " ".join(page.locator("#turns").inner_text().split()) == " ".join(said.split())

    page.get_by_role("tab", name="Extraction").click()
    number = page.locator("[name='value:receipt_number']")
    expect(number).to_have_value("2468")
    number.click()
    expect(page.locator("#page-1 .mark.chosen")).to_have_count(1)


def test_a_rejection_with_its_reason_reaches_the_agent_and_every_tab(open_page: OpenPage) -> None:
    page = open_page()
    opened(page, "two-tabs.pdf")
    ask(page, "Tag this document as Urgent")
    other = page.context.new_page()
    other.goto(page.url)
    to_agent(other)
    mine, theirs = card(page, "Create tag “Urgent”"), card(other, "Create tag “Urgent”")
    mine.focus()
    page.keyboard.press("r")
    reason = mine.get_by_label("Why not?")
    expect(reason).to_be_focused()
    reason.fill("We do not tag like that")
    reason.press("Enter")
    for tab in (page, other):
        expect(tab.locator("#turns .ran", has_text="Create tag “Urgent”")).to_contain_text("Rejected", timeout=2_000)
        expect(tab.locator("#turns .ran", has_text="“We do not tag like that”")).to_be_visible()
        expect(tab.locator("#turns .answer").last).not_to_be_empty()
    expect(theirs).to_have_count(0)


def test_always_allow_says_what_it_allows_before_it_does(open_page: OpenPage) -> None:
    page = open_page()
    opened(page, "always.pdf")
    ask(page, "Tag this document as Monthly")
    waiting = card(page, "Create tag “Monthly”")
    waiting.get_by_role("button", name="Always allow…").click()
    expect(waiting.locator(".more:not([hidden])")).to_contain_text("From now on, run create tag without asking you")
    waiting.locator("[name='scope']").select_option("document")
    waiting.get_by_role("button", name="Always allow, and approve this one").click()
    approve(page, "Monthly") if page.locator("#turns [data-card]").count() else None
    expect(page.locator("#turns .ran", has_text="Created tag “Monthly”")).to_be_visible()
    page.reload()
    to_agent(page)
    page.locator(".agent-head details", has_text="Asks").locator("summary").click()
    expect(page.locator(".menu-list .rule")).to_contain_text("Create tag")
    page.locator(".menu-list .rule").get_by_role("button", name="End").click()
    expect(page.locator(".menu-list .rule")).to_have_count(0)


def test_mentions_by_keyboard_and_asking_again_from_a_question(open_page: OpenPage) -> None:
    page = open_page()
    opened(page, "mentioned.pdf")
    box = page.locator("#composer-text")
    box.press_sequentially("What is @mentioned")
    expect(page.locator("#mention-list [role=option]").first).to_have_attribute("aria-selected", "true")
    box.press("Enter")
    expect(page.locator("#composer-chips .chip")).to_contain_text("mentioned.pdf")
    box.press_sequentially("about?")
    box.press("Enter")
    expect(page.locator("#turns .question .chip")).to_contain_text("mentioned.pdf")
    expect(page.locator("#agent-status")).to_have_attribute("data-status", "done")
    page.locator(".question").hover()
    page.get_by_role("button", name="Change this question").click()
    box.fill("List the tags")
    box.press("Enter")
    expect(page.locator("#turns .said")).to_have_text(["List the tags"])


def test_a_question_while_a_card_waits_is_kept_until_it_is_sent(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page()
    opened(page, "patience.pdf")
    ask(page, "Tag this document as Later")
    card(page, "Create tag “Later”")
    page.locator("#composer-text").fill("List the tags")
    page.locator("#composer-text").press("Enter")
    expect(page.locator("#composer-note")).to_contain_text("A change still waits for you")
    page.reload()
    to_agent(page)
    expect(page.locator("#composer-text")).to_have_value("List the tags")
    page.locator("#composer-text").press("Enter")
    page.get_by_role("button", name="Reject and send").click()
    expect(page.locator("#turns .said")).to_have_text(["Tag this document as Later", "List the tags"])
    expect(page.locator("#turns [data-card]")).to_have_count(0)
    complaints[:] = [said for said in complaints if "422" not in said]


@pytest.mark.parametrize("width", [360, 1024])
def test_a_card_is_read_and_decided_on_a_small_screen(open_page: OpenPage, width: int) -> None:
    page = open_page(width=width, height=780)
    opened(page, f"small-{width}.pdf")
    ask(page, f"Tag this document as Size {width}")
    waiting = card(page, f"Create tag “Size {width}”")
    expect(waiting.get_by_role("button", name="Approve")).to_be_in_viewport()
    expect(page.locator("#composer-text")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    approve(page, f"Create tag “Size {width}”")
    expect(page.locator("#turns .ran", has_text=f"Created tag “Size {width}”")).to_be_visible()


@pytest.fixture
def slow_site(site: Site) -> Iterator[Site]:
    """The same site with a model that speaks slowly, so that there is a middle of an answer."""
    restarted(site, "60")
    yield site
    restarted(site, "2")


def restarted(site: Site, delay: str, signal_number: int = signal.SIGTERM) -> None:
    site.stop("web", signal_number)
    site.environment["OFFLINE_CHUNK_DELAY_MS"] = delay
    site.start("web")
    site.wait()


def test_a_reload_in_the_middle_of_an_answer_goes_on_with_it(slow_site: Site, open_page: OpenPage) -> None:
    page = open_page()
    opened(page, "slow.pdf")
    ask(page, "What can you do?")
    live = page.locator("#turns .answer.live")
    expect(live).not_to_be_empty(timeout=FIRST_ANSWER)
    page.reload()
    expect(live).not_to_be_empty()
    before = live.inner_text()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator("#agent-status")).to_have_attribute("data-status", "done", timeout=40_000)
    answer = page.locator("#turns .answer").inner_text()
    assert len(answer) > len(before)
    assert " ".join(answer.split()).startswith(" ".join(before.split())[:10])
    page.reload()
    expect(page.locator("#turns .answer")).to_have_text(answer)


def test_stop_ends_an_answer_and_keeps_what_was_said(slow_site: Site, open_page: OpenPage) -> None:
    page = open_page()
    opened(page, "stopped.pdf")
    ask(page, "What can you do?")
    expect(page.locator("#turns .answer.live")).not_to_be_empty(timeout=FIRST_ANSWER)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#turns .turn-end")).to_contain_text("Stopped.", timeout=3_000)
    expect(page.locator("#turns .answer")).not_to_be_empty()


def test_a_killed_server_loses_no_card(site: Site, open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page()
    opened(page, "killed.pdf")
    ask(page, "Tag this document as Survivor")
    card(page, "Create tag “Survivor”")
    restarted(site, "2", signal.SIGKILL)
    page.reload()
    to_agent(page)
    approve(page, "Create tag “Survivor”")
    expect(page.locator("#turns .ran", has_text="Created tag “Survivor”")).to_be_visible()
    expected = ("WebSocket", "ERR_CONNECTION", "[object Event]", "htmx:wsError")
    complaints[:] = [said for said in complaints if not any(word in said for word in expected)]
