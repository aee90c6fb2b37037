"""No page has a serious finding of axe."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
PAGES = (
    "/documents",
    "/waiting",
    "/schemas",
    "/prompts",
    "/tags",
    "/schemas/new",
    "/tags/new",
    "/settings/webhooks/new",
)


def serious(found: object) -> list[str]:
    """What people with a screen reader or a keyboard would stumble over."""
    violations = found.response["violations"]  # type: ignore[attr-defined]
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in violations if v["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_pages(open_page: OpenPage, scheme: str) -> None:
    page = open_page(scheme=scheme)
    findings = {}
    for address in PAGES:
        assert page.goto(address).status == 200, address  # type: ignore[union-attr]
        findings[address] = serious(Axe().run(page))
    stranger = open_page(scheme=scheme, signed_in=False)
    stranger.goto("/sign-in")
    findings["/sign-in"] = serious(Axe().run(stranger))
    assert {address: found for address, found in findings.items() if found} == {}
