"""`python -m bench.screenshots`: drives a real browser through the main job and keeps pictures of it.

Both themes at 1440 and 360 pixels, each on an organization of its own, with the built-in model on the demo's sample.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from docrouter.embedded import services
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.site import PASSWORD, ROOT, Site, running_site

FOLDER = Path(__file__).resolve().parents[1] / "docs/screenshots"
SAMPLE = ROOT / "docrouter/samples/statement-en-contoso-1.pdf"
SIZES = {1440: 900, 360: 780}
Keep = Callable[[str], None]


def main() -> None:
    """Make all pictures anew."""
    FOLDER.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docrouter-pictures-")))
        os.environ.update(stack.enter_context(services(folder / "services", durable=False)))
        site = stack.enter_context(running_site(folder))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width in SIZES:
            for scheme in ("light", "dark"):
                for walk in (journey, proposal):
                    with opened(site, browser, walk.__name__, width, scheme) as (page, keep):
                        walk(page, keep, width)


@contextmanager
def opened(site: Site, browser: Browser, name: str, width: int, scheme: str) -> Iterator[tuple[Page, Keep]]:
    """A window of somebody with an organization of their own, signed in, and what keeps a picture of it."""
    email = f"ada-{name}-{width}-{scheme}@example.com"
    site.manage("create_user", "--email", email, "--password", PASSWORD, "--name", "Ada Byron")
    site.manage("create_organization", "--name", f"Analytical {name} {width} {scheme}", "--owner", email)
    context = browser.new_context(
        base_url=site.url,
        viewport={"width": width, "height": SIZES[width]},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=1 if width > 720 else 2,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)

    def keep(name: str) -> None:
        page.wait_for_timeout(400)
        picture = Image.open(BytesIO(page.screenshot()))
        picture.save(FOLDER / f"{name}-{width}-{scheme}.webp", quality=88, method=6)

    sign_in(page, email)
    yield page, keep
    context.close()


def proposal(page: Page, keep: Keep, _width: int) -> None:
    """What the agent proposed by itself while nobody watched."""
    page.get_by_label("Set up extraction for them").check()
    page.set_input_files("#files", SAMPLE)
    row = page.locator("#documents tbody tr").first
    expect(row.locator(".badge.wait")).to_have_text("Waits for review", timeout=120_000)
    row.get_by_role("link").first.click()
    expect(page.locator(".review.proposed")).to_contain_text("I made")
    page.locator(".review-fields > summary").click()
    keep("proposed")


def journey(page: Page, keep: Keep, width: int) -> None:
    """The main job once, with a picture at each stop."""
    page.set_input_files("#files", SAMPLE)
    row = page.locator("#documents tbody tr").first
    expect(row.locator(".badge.ok")).to_be_visible()
    keep("documents")
    row.get_by_role("link").first.click()
    expect(page.locator("#agent-panel[data-ready]")).to_be_visible()
    page.locator("#composer-text").fill("Set up extraction for this document")
    page.locator("#composer-text").press("Enter")
    schema = page.locator("#turns [data-card]")
    expect(schema).to_be_visible()
    if width > 720:
        schema.locator("[data-highlight]", has_text="2468").click()
    keep("card")
    schema.get_by_role("button", name="Edit").click()
    expect(page.locator("form.edit")).to_be_visible()
    keep("edit")
    page.get_by_role("button", name="Approve with these changes").click()
    for title in ("Create prompt", "Run the extraction"):
        card = page.locator("#turns [data-card]", has_text=title)
        card.get_by_role("button", name="Approve").first.click()
        expect(card).to_have_count(0)
    expect(page.locator("#agent-status")).to_have_attribute("data-status", "done")
    keep("done")
    page.reload()
    page.get_by_role("tab", name="Extraction").click()
    field = page.locator("[name='value:document_number']")
    expect(field).to_have_value("2468")
    field.click()
    keep("extraction")


def sign_in(page: Page, email: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/documents")


if __name__ == "__main__":
    main()
