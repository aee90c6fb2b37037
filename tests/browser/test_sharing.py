"""Share a document with a value blacked out, open the link as a stranger, ask, revoke; publish and withdraw."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, newcomer
from tests.browser.site import Site
from tests.browser.test_accessibility import serious
from tests.browser.test_documents import open_document, upload
from tests.data import make

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def email(site: Site) -> str:
    return newcomer(site, "sharing")


def test_share_a_document_and_revoke_the_link(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page()
    upload(page, {"name": "shared.pdf", "mimeType": "application/pdf", "buffer": make.pdf()})
    open_document(page, "shared.pdf")
    page.get_by_role("tab", name="Extraction").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[name='value:document_date']")).to_have_value("2026-03-01")
    page.get_by_role("link", name="Share", exact=True).click()
    page.get_by_label("look at it and ask questions").check()
    page.get_by_label("document_date").check()
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("Address of the link").input_value()
    assert serious(Axe().run(page)) == []

    stranger = open_page(width=360, height=740, signed_in=False)
    stranger.goto(link)
    assert link.split("/")[-1] not in stranger.url, "the token left the address"
    expect(stranger.locator(".redacted")).to_have_count(1)
    expect(stranger.locator("#page-1 .words span", has_text="████").first).to_be_attached()
    stranger.wait_for_function("() => document.querySelector('#page-1 img').naturalWidth > 300")
    assert serious(Axe().run(stranger)) == []
    assert "2026-03-01" not in stranger.content()
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not stranger.evaluate(wide)
    stranger.get_by_label("Ask about this document").fill("What is the date of this document?")
    stranger.get_by_role("button", name="Ask").click()
    expect(stranger.locator(".said")).to_be_visible()
    assert "2026-03-01" not in stranger.content()

    expect_one_view(page)
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("revoked", exact=True)).to_be_visible()
    stranger.goto(stranger.url.removesuffix("/ask"))
    expect(stranger.get_by_role("heading", name="This cannot be shown")).to_be_visible()
    complaints[:] = [text for text in complaints if "410" not in text]


def expect_one_view(page: Page) -> None:
    """The page again, by its address: what a post showed is shown only once."""
    page.goto(page.url)
    expect(page.locator("#made-url")).to_have_count(0)
    expect(page.get_by_text("1 view · 1 answer")).to_be_visible()
