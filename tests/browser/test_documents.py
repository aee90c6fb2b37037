"""Upload a document, see it read, open it: its page, its words; edit what was extracted."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.data import make

pytestmark = pytest.mark.browser


def upload(page: Page, *files: Path | dict[str, object]) -> None:
    """Choose files on the documents page."""
    page.goto("/documents")
    page.set_input_files("#files", list(files))  # type: ignore[arg-type]


def open_document(page: Page, name: str) -> None:
    """Wait until the newest document of this name is read, and open it."""
    row = page.locator("#documents tbody tr", has_text=name).first
    expect(row.locator(".badge.ok")).to_be_visible(timeout=60_000)
    row.get_by_role("link", name=name).first.click()
    page.wait_for_selector("#workspace")


def test_upload_read_open_select_and_find(open_page: OpenPage, sample: Path) -> None:
    page = open_page()
    upload(page, sample)
    expect(page.locator(".upload", has_text=sample.name)).to_be_visible()
    open_document(page, sample.name)
    picture = page.locator("#page-1 img").first
    expect(picture).to_have_js_property("complete", True)
    page.wait_for_function("() => document.querySelector('#page-1 img').naturalWidth > 300")
    expect(page.locator("#page-1 .words span", has_text="Statement")).to_be_attached()
    page.get_by_role("button", name="Find").first.click()
    page.get_by_placeholder("Find in this document").fill("delivery")
    expect(page.locator("#find-count")).to_have_text("1 of 3")
    expect(page.locator("#page-1 .mark.hit")).to_have_count(3)

    upload(page, sample)
    expect(page.locator(".upload.twice")).to_contain_text("is here already")


def test_run_a_prompt_click_a_value_edit_it_and_reload(open_page: OpenPage) -> None:
    page = open_page()
    upload(page, {"name": "letter.pdf", "mimeType": "application/pdf", "buffer": make.pdf()})
    open_document(page, "letter.pdf")
    page.get_by_role("tab", name="Extraction").click()
    page.get_by_role("button", name="Run", exact=True).click()
    field = page.locator("[name='value:document_date']")
    expect(field).to_have_value("2026-03-01")
    field.click()
    expect(page.locator("#page-1 .mark.chosen")).to_have_count(1)
    field.fill("2026-03-02")
    field.press("Enter")
    expect(page.locator("#fields .note.edited")).to_have_count(1)
    page.reload()
    expect(page.locator("[name='value:document_date']")).to_have_value("2026-03-02")
    expect(page.get_by_text("1 change", exact=True)).to_be_visible()


def test_a_wrong_value_is_told_and_escape_brings_the_old_one_back(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page()
    page.goto("/documents")
    page.get_by_role("link", name="letter.pdf").first.click()
    page.get_by_role("tab", name="Extraction").click()
    other = page.context.new_page()
    other.goto(page.url)
    expect(page.locator("#edit-version")).to_have_value("1")
    page.evaluate("document.getElementById('edit-version').value = '0'")
    field = page.locator("[name='value:document_type']")
    before = field.input_value()
    field.fill("letter")
    field.press("Enter")
    expect(page.locator("#problems")).to_contain_text("Nothing of yours was saved")
    expect(field).to_have_value("letter")
    field.press("Escape")
    expect(field).to_have_value(before)
    assert [one for one in complaints if "409" in one] == complaints
    complaints.clear()


def test_on_a_phone_the_page_never_scrolls_sideways(open_page: OpenPage) -> None:
    page = open_page(width=360, height=740, scheme="dark")
    page.goto("/documents")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_role("link", name="letter.pdf").first.click()
    for name in ("Extraction", "Agent", "Document"):
        page.get_by_role("tab", name=name).click()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, name
    page.wait_for_function("() => document.querySelector('#page-1 img').naturalWidth > 200")
