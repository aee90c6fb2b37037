"""Auto-create in a browser: tick the box, see the proposal come, decide it in two windows, refine it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, newcomer, sign_in
from tests.browser.site import Site
from tests.data import make

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def email(site: Site) -> str:
    return newcomer(site, "auto.create")


PROPOSED = 120_000
"""Milliseconds: the first turn of a fresh worker waits until litellm is imported, long on a busy machine."""


PROPOSES = re.compile("I made|fits this document")
"""The first of these journeys that accepts a prompt makes it the one that fits the others' documents."""


def paper(name: str) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/pdf", "buffer": make.pdf((*make.INVOICE, name))}


def set_up(page: Page, *names: str) -> None:
    """Upload with the box ticked, and wait on the documents page until all are proposed."""
    page.goto("/documents")
    page.get_by_label("Set up extraction for them").check()
    page.set_input_files("#files", [paper(name) for name in names])  # type: ignore[arg-type]
    for name in names:
        row = page.locator("#documents tbody tr", has_text=name).first
        expect(row.locator(".badge.wait")).to_have_text("Waits for review", timeout=PROPOSED)


def open_one(page: Page, name: str) -> None:
    page.goto("/documents")
    page.locator("#documents tbody tr", has_text=name).get_by_role("link", name=name).first.click()
    expect(page.locator(".review.proposed")).to_contain_text(PROPOSES)


def test_a_proposal_comes_by_itself_and_is_decided_in_two_windows(open_page: OpenPage) -> None:
    one, two = open_page(), open_page()
    set_up(one, "first.pdf", "second.pdf")
    expect(one.locator("#waiting-count")).to_have_text("2")
    for page in (one, two):
        open_one(page, "first.pdf")
    one.locator(".review-fields > summary").click()
    expect(one.locator(".review-fields dl > div").first).to_be_visible()
    one.locator(".review-fields button.note").first.click()
    expect(one.locator(".mark").first).to_be_visible()

    one.locator(".review").get_by_role("button", name="Accept", exact=True).click()

    expect(one.locator(".review.accepted")).to_be_visible()
    expect(two.locator(".review.accepted")).to_contain_text("accepted what the agent proposed")
    expect(two.locator("#waiting-count")).to_have_text("1")
    two.goto("/waiting")
    expect(two.locator(".proposals .item")).to_have_count(1)
    two.locator(".proposals").get_by_role("button", name="Reject").click()
    expect(two.locator("#waiting-count")).to_have_text("")
    one.goto("/prompts")
    expect(one.locator(".badge.wait")).to_have_count(0)


def test_accept_and_tag_counts_what_it_will_run(open_page: OpenPage) -> None:
    page = open_page()
    set_up(page, "third.pdf")
    open_one(page, "third.pdf")
    page.get_by_role("link", name="Accept and tag…").click()
    expect(page.get_by_role("heading", name="Accept and tag")).to_be_visible()
    page.locator(".tag-choice [name=name]").fill("Invoices of the journey")
    page.locator(".tag-choice [value=new]").check()
    page.get_by_role("button", name="Accept and tag").click()
    expect(page.locator(".title .tags .tag")).to_have_text("Invoices of the journey")
    expect(page.locator(".review.accepted")).to_be_visible()


def test_refining_opens_the_log_of_what_was_done(open_page: OpenPage) -> None:
    page = open_page()
    set_up(page, "fourth.pdf")
    open_one(page, "fourth.pdf")
    page.get_by_role("link", name="Refine in chat").click()
    expect(page.get_by_role("tab", name="Agent")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#turns .said").first).to_contain_text("Analyze this document.")
    page.locator("#composer-text").fill("Rename the field currency to money")
    page.locator("#composer-text").press("Enter")
    expect(page.locator("#turns [data-card]").first).to_be_visible(timeout=60_000)
    page.locator(".review").get_by_role("button", name="Reject").click()
    expect(page.locator(".review.rejected")).to_be_visible()
    expect(page.locator("#turns [data-card]")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 360])
def test_the_review_fits_and_works_without_a_script(open_page: OpenPage, email: str, width: int) -> None:
    page = open_page()
    name = f"plain-{width}.pdf"
    set_up(page, name)
    browser = page.context.browser
    assert browser is not None
    plain = browser.new_context(java_script_enabled=False, base_url=page.url, viewport={"width": width, "height": 800})
    bare = plain.new_page()
    sign_in(bare, email)
    bare.get_by_role("link", name=name).first.click()
    expect(bare.locator(".review.proposed")).to_contain_text(PROPOSES)
    over = bare.locator(".review").evaluate("box => box.scrollWidth - box.clientWidth")
    assert over <= 0
    bare.locator(".review").get_by_role("button", name="Accept", exact=True).click()
    expect(bare.locator(".notice")).to_contain_text("Accepted.")
    plain.close()
