"""The frame of every page: links that work, the demo's credentials, errors as pages and as fragments."""

import re

import pytest
from django.test import Client
from pytest_django import Settings

from organizations.services import add_member, create_organization
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_every_link_of_the_side_bar_opens(alice: Person) -> None:
    client = alice.client()
    page = client.get("/documents").content.decode()
    side = page.split('id="side"')[1].split("</nav>")[0]
    links = re.findall(r'href="([^"]+)"', side)
    assert "/documents" in links
    assert [link for link in links if client.get(link).status_code != 200] == []


def test_the_demo_shows_its_credentials_to_visitors_only(alice: Person, nobody: Client, settings: Settings) -> None:
    assert "This is the demo" not in nobody.get("/sign-in").content.decode()
    settings.DEMO, settings.DEMO_PASSWORD = True, "a demo password"
    assert "a demo password" in nobody.get("/sign-in").content.decode()
    assert "a demo password" not in alice.client().get("/documents").content.decode()


def test_the_switcher_lists_ones_own_organizations(alice: Person, charlie: Person) -> None:
    other = create_organization(name="Second", owner=charlie.user)
    client = alice.client()
    assert 'name="organization_id"' not in client.get("/documents").content.decode()
    add_member(organization=other, user=alice.user)
    assert "Second" in client.get("/documents").content.decode()


def test_an_error_is_a_page_for_a_person_and_a_fragment_for_a_script(alice: Person) -> None:
    client = alice.client()
    page = client.get("/documents/nonsense")
    assert (page.status_code, "<html" in page.content.decode()) == (404, True)
    assert "Document not found" in page.content.decode()
    fragment = client.get("/documents/nonsense", headers={"HX-Request": "true"})
    assert fragment["HX-Retarget"] == "#problems"
    assert "<html" not in fragment.content.decode()
    assert "This page does not exist" in client.get("/no/such/page").content.decode()


def test_our_own_forms_may_say_where_they_come_from_and_other_sites_learn_nothing(alice: Person) -> None:
    """With `no-referrer` a browser sends `Origin: null` with forms, which the CSRF check refuses."""
    assert alice.client().get("/documents")["Referrer-Policy"] == "same-origin"
