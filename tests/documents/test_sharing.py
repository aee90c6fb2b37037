"""Links to share: who gets in, how often, for how long; what ends them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoAssertNumQueries

from core.ids import new_id
from documents.models import Document, Event, ShareLink
from documents.sharing import services
from documents.sharing.errors import ShareAnswersUsedUp, ShareGone, ShareInvalid, ShareRoleRefused, ShareTokenInvalid
from documents.sharing.selectors import list_share_links
from organizations.models import AuditEntry
from tests.conftest import Person
from tests.documents.making import RECEIPT
from tests.documents.sharing import link_to, result_of, shared_document

VALUES = {"number": "2468", "date": "2020-08-20", "total": 4950, "iban": ""}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def document(alice: Person) -> Document:
    document = shared_document(alice, RECEIPT)
    result_of(alice, document, VALUES)
    return document


def at(link: ShareLink, rest: str = "") -> str:
    return f"/s/{link.pk.hex}{rest}"


def program_of(person: Person) -> Client:
    """What calls `/v1` for this person."""
    client = Client(headers={"X-Organization-Id": person.organization.pk.hex})
    client.force_login(person.user)
    return client


def entered(made: services.MadeLink, **form: str) -> Client:
    """A browser in which the link was opened."""
    client = Client()
    answer = client.post(at(made.link, f"/{made.token}"), form)
    assert answer.status_code == 302, answer.content
    assert answer.headers["Location"] == at(made.link)
    return client


def test_a_link_opens_fields_pages_and_words_without_an_account(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    client = Client()
    answer = client.get(at(made.link, f"/{made.token}"))
    cookie = answer.cookies["share_ticket"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (at(made.link), True, "Lax")
    assert "sessionid" not in answer.cookies
    page = client.get(at(made.link))
    assert "2468" in page.content.decode()
    assert "4950" in page.content.decode()
    assert alice.organization.name not in page.content.decode()
    assert client.get(at(made.link, "/pages/1/words")).json()["text"][0] == "Contoso"
    picture = client.get(at(made.link, "/pages/1/image"))
    assert Image.open(BytesIO(picture.content)).format == "WEBP"
    for answer in (page, picture, client.get(at(made.link, "/pages/2/image"))):
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.status_code == 404


def test_the_token_is_kept_nowhere(alice: Person, document: Document) -> None:
    made = link_to(alice, document, password="open sesame")
    row = ShareLink.objects.filter(pk=made.link.pk).values().get()
    assert made.token not in str(row)
    assert "open sesame" not in str(row)
    assert made.token not in str(list(Event.objects.values()) + list(AuditEntry.objects.values()))


def test_a_wrong_token_an_unknown_link_and_a_foreign_ticket_look_the_same(alice: Person, document: Document) -> None:
    made, other = link_to(alice, document), link_to(alice, document)
    client = entered(made)
    ticket = client.cookies["share_ticket"].value
    tries = [
        Client().get(at(made.link, f"/{other.token}")),
        Client().get(f"/s/{new_id().hex}/{made.token}"),
        Client().get(f"/s/nonsense/{made.token}"),
        Client().get(at(made.link)),
        Client().get(at(made.link, "/pages/1/image")),
        Client().get(at(other.link, "/pages/1/image"), {"ticket": ticket}),
        Client().get(at(made.link, "/pages/1/words"), {"ticket": f"{ticket}x"}),
    ]
    assert {answer.status_code for answer in tries} == {401}
    assert len({answer.content for answer in tries}) == 1


def test_a_ticket_ends_after_ten_minutes(alice: Person, document: Document, settings: Any) -> None:
    made = link_to(alice, document)
    client = entered(made)
    settings.SHARE_TICKET_SECONDS = -1
    assert client.get(at(made.link)).status_code == 401


def test_opening_the_link_again_within_a_view_counts_none(alice: Person, document: Document) -> None:
    made = link_to(alice, document, max_views=1)
    client = entered(made)
    assert client.get(at(made.link, f"/{made.token}")).status_code in (302, 410)
    assert client.get(at(made.link)).status_code == 200
    assert Client().post(at(made.link, f"/{made.token}")).status_code == 410
    assert ShareLink.objects.get().views == 1


def test_a_preview_opens_nothing(alice: Person, document: Document) -> None:
    made = link_to(alice, document, max_views=1)
    for method in ("get", "head"):
        assert getattr(Client(), method)(at(made.link, f"/{made.token}")).status_code == 200
    assert Client().head(at(link_to(alice, document).link)).status_code == 401
    assert set(ShareLink.objects.values_list("views", flat=True)) == {0}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"revoked_at": LONG_AGO}, "share_revoked"),
        ({"expires_at": LONG_AGO}, "share_expired"),
        ({"max_views": 3, "views": 3}, "share_used_up"),
    ],
)
def test_what_ended_is_gone(alice: Person, document: Document, change: dict[str, Any], code: str) -> None:
    made = link_to(alice, document)
    ShareLink.objects.update(**change)
    answer = Client().get(f"/v1/shares/{made.link.pk.hex}", headers={"X-Share-Token": made.token})
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, code)
    assert Client().get(at(made.link, f"/{made.token}")).status_code == 410
    assert ShareLink.objects.get().views == change.get("views", 0)


def test_revoking_ends_what_is_open(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    client = entered(made)
    ticket = client.cookies["share_ticket"].value
    services.revoke_share_link(actor=alice.actor, document_id=document.pk, share_id=made.link.pk.hex)
    for rest in ("", "/pages/1/image", "/pages/1/words"):
        assert client.get(at(made.link, rest)).status_code == 410, rest
    assert Client().get(f"/v1/shares/{made.link.pk.hex}", {"ticket": ticket}).status_code == 410
    services.revoke_share_link(actor=alice.actor, document_id=document.pk, share_id=made.link.pk.hex)
    assert Event.objects.filter(type="share.revoked").count() == 1


def test_a_document_in_the_trash_is_not_shared(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    client = entered(made)
    Document.objects.update(deleted_at=timezone.now())
    assert client.get(at(made.link)).status_code == 401
    assert Client().get(at(made.link, f"/{made.token}")).status_code == 401


def test_a_link_shows_the_version_that_was_shared(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    other = shared_document(alice, ("Something else",))
    document.current_version = other.current_version
    document.save()
    assert "Contoso" in entered(made).get(at(made.link, "/pages/1/words")).json()["text"]


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_exactly_as_many_get_in_as_may(alice: Person, document: Document) -> None:
    made = link_to(alice, document, max_views=7)

    def ask(_: int) -> str:
        try:
            services.open_share(share_id=made.link.pk.hex, token=made.token)
        except ShareGone as problem:
            return problem.error_code
        finally:
            connection.close()
        return "opened"

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(ask, range(50)))
    assert outcomes.count("opened") == 7
    assert outcomes.count("share_used_up") == 43
    assert ShareLink.objects.get().views == 7
    seqs = list(Event.objects.filter(document=document).order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1)), "the log has no gaps"
    assert Event.objects.filter(type="share.opened").count() == 7


def test_a_password_is_asked_for_and_guessing_it_is_limited(alice: Person, document: Document, settings: Any) -> None:
    settings.RATE_LIMIT_SCALE = 1
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    made = link_to(alice, document, password="open sesame")
    place = at(made.link, f"/{made.token}")
    assert b'type="password"' in Client().get(place).content
    assert ShareLink.objects.get().views == 0
    answers = [Client().post(place, {"password": f"guess {number}"}).status_code for number in range(12)]
    assert answers == [401] * 10 + [429] * 2
    assert Client().post(place, {"password": "open sesame"}).status_code == 429
    elsewhere = Client(REMOTE_ADDR="10.1.2.3")
    assert elsewhere.post(place, {"password": "open sesame"}).status_code == 302
    assert ShareLink.objects.get().views == 1


def test_a_program_opens_a_link_with_headers(alice: Person, document: Document) -> None:
    made = link_to(alice, document, password="open sesame", max_views=2, role="ask")
    place = f"/v1/shares/{made.link.pk.hex}"
    without = Client().get(place, headers={"X-Share-Token": made.token})
    assert (without.status_code, without.json()["error"]["code"]) == (401, "share_password_required")
    body = Client().get(place, headers={"X-Share-Token": made.token, "X-Share-Password": "open sesame"}).json()
    assert (body["name"], body["viewsLeft"], body["answersLeft"]) == ("receipt.pdf", 1, 50)
    assert body["extraction"]["data"] == VALUES
    assert "Contoso Ltd" in body["pages"][0]["text"]
    again = Client().get(place, headers={"X-Share-Ticket": body["ticket"]})
    assert (again.status_code, ShareLink.objects.get().views) == (200, 1)
    words = Client().get(body["pages"][0]["wordsUrl"].removeprefix("http://testserver"))
    assert words.json()["text"][0] == "Contoso"


def test_members_make_list_and_revoke_links_over_json(alice: Person, document: Document) -> None:
    client, place = program_of(alice), f"/v1/documents/{document.pk.hex}/share-links"
    made = client.post(place, {"role": "ask", "expiresInMs": 60_000, "maxViews": 5}, content_type="application/json")
    assert made.status_code == 201
    body = made.json()
    assert body["url"] == f"http://testserver/s/{body['shareId']}/{body['token']}"
    listed = client.get(place).json()["shareLinks"]
    assert [(row["shareId"], row["views"], row["maxViews"], row["revokedAt"]) for row in listed] == [
        (body["shareId"], 0, 5, None)
    ]
    assert "token" not in listed[0]
    assert client.delete(f"{place}/{body['shareId']}").status_code == 204
    assert client.get(place).json()["shareLinks"][0]["revokedAt"]
    assert client.delete(f"{place}/{new_id().hex}").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"role": "own"}, {"maxViews": 0}, {"maxViews": 10**12}, {"expiresInMs": -1}, {"expiresInMs": 10**15},
        {"password": "x" * 1000}, {"redact": "iban"}, {"redact": ["nothing"]}, {"redact": [""]},
        {"redact": ["a" * 1000]}, {"redact": ["total"] * 500}, {"promptRevid": "nonsense"}, {"password": "\0"},
    ],
)  # fmt: skip
def test_bad_links_are_refused_and_nothing_is_made(alice: Person, document: Document, body: dict[str, Any]) -> None:
    place = f"/v1/documents/{document.pk.hex}/share-links"
    answer = program_of(alice).post(place, body, content_type="application/json")
    assert answer.status_code in (400, 404, 422)
    assert answer.json()["error"]["code"] in ("share_invalid", "extraction_not_found", "validation")
    assert not ShareLink.objects.exists()


def test_links_of_another_organization_do_not_exist(alice: Person, charlie: Person, document: Document) -> None:
    made = link_to(alice, document)
    place = f"/v1/documents/{document.pk.hex}/share-links"
    client = program_of(charlie)
    assert client.get(place).status_code == 404
    assert client.post(place, {}, content_type="application/json").status_code == 404
    own = shared_document(charlie, RECEIPT)
    assert client.delete(f"{place}/{made.link.pk.hex}").status_code == 404
    assert client.delete(f"/v1/documents/{own.pk.hex}/share-links/{made.link.pk.hex}").status_code == 404
    assert client.post(f"/documents/{own.pk.hex}/share/{made.link.pk.hex}/revoke").status_code == 404
    assert ShareLink.objects.get().revoked_at is None


def test_the_list_costs_the_same_for_many(
    alice: Person, document: Document, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        link_to(alice, document)
    with django_assert_num_queries(2):
        assert len(list_share_links(actor=alice.actor, document_id=document.pk)) == 3
    client, place = alice.client(), f"/documents/{document.pk.hex}/share"
    from_three = queries_of(client, place)
    for _ in range(12):
        link_to(alice, document)
    assert queries_of(client, place) == from_three


def queries_of(client: Client, place: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(place).status_code == 200
    return len(captured)


# --- Asking ---------------------------------------------------------------------------------------------------------


def test_asking_counts_a_view_and_an_answer(alice: Person, document: Document) -> None:
    made = link_to(alice, document, role="ask", max_views=1)
    view = services.open_for_asking(share_id=made.link.pk.hex, token=made.token)
    assert (view.document_id, view.organization_id) == (document.pk, alice.organization.pk)
    assert (view.answers_left, view.cost_left_usd) == (49, Decimal(1))
    assert "Contoso" in view.content.text
    again = services.open_for_asking(share_id=made.link.pk.hex, ticket=view.ticket)
    assert again.answers_left == 48
    with pytest.raises(ShareGone):
        services.open_for_asking(share_id=made.link.pk.hex, token=made.token)
    services.return_answer(share_id=view.share_id)
    assert ShareLink.objects.values_list("views", "answers").get() == (1, 1)


def test_who_may_only_look_may_not_ask(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    with pytest.raises(ShareRoleRefused):
        services.open_for_asking(share_id=made.link.pk.hex, token=made.token)
    with pytest.raises(ShareTokenInvalid):
        services.open_for_asking(share_id=made.link.pk.hex, token="wrong")
    assert ShareLink.objects.get().views == 0


@pytest.mark.parametrize("change", [{"answers": 50}, {"cost_usd": 1}])
def test_answers_and_their_cost_have_an_end(alice: Person, document: Document, change: dict[str, int]) -> None:
    made = link_to(alice, document, role="ask")
    ShareLink.objects.update(**change)
    with pytest.raises(ShareAnswersUsedUp):
        services.open_for_asking(share_id=made.link.pk.hex, token=made.token)


def test_the_cost_of_answers_adds_up(alice: Person, document: Document) -> None:
    made = link_to(alice, document, role="ask")
    for _ in range(4):
        view = services.open_for_asking(share_id=made.link.pk.hex, token=made.token)
        services.book_answer(share_id=view.share_id, cost_usd=0.3)
    with pytest.raises(ShareAnswersUsedUp):
        services.open_for_asking(share_id=made.link.pk.hex, token=made.token)
    assert ShareLink.objects.get().cost_usd == Decimal("1.2")


@pytest.mark.django_db(transaction=True)
def test_no_more_is_answered_at_once_than_may(alice: Person, document: Document, settings: Any) -> None:
    settings.SHARE_MAX_ANSWERS = 5
    made = link_to(alice, document, role="ask")
    ticket = services.open_share(share_id=made.link.pk.hex, token=made.token).ticket

    def ask(_: int) -> bool:
        try:
            services.open_for_asking(share_id=made.link.pk.hex, ticket=ticket)
        except ShareAnswersUsedUp:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(20))) == 5
    assert ShareLink.objects.get().answers == 5


def test_asking_needs_pages(alice: Person, document: Document) -> None:
    result_of(alice, document, {"iban": "DE00 nowhere"})
    with pytest.raises(ShareInvalid, match="not found on the pages"):
        link_to(alice, document, role="ask", redact_paths=["iban"])


@pytest.mark.django_db(transaction=True)
def test_a_question_is_asked_on_the_page_with_a_plain_form(alice: Person, document: Document) -> None:
    made = link_to(alice, document, role="ask", redact_paths=["total"])
    client = entered(made)
    assert b"50 answers left" in client.get(at(made.link)).content
    answer = client.post(at(made.link, "/ask"), {"question": "What is the receipt number?"})
    assert answer.status_code == 200, answer.content
    page = answer.content.decode()
    assert "What is the receipt number?" in page
    assert "2468" in page.split("said", 1)[1].split("</article>")[0]
    assert "49 answers left" in page
    assert "4,950" not in page
    hidden = client.post(at(made.link, "/ask"), {"question": "What is the total?"}).content.decode()
    assert "4,950" not in hidden
    assert "4950" not in hidden
    for question in ("", " ", "x" * 3000):
        assert client.post(at(made.link, "/ask"), {"question": question}).status_code == 400
    assert Client().post(at(made.link, "/ask"), {"question": "Hi?"}).status_code == 401
    looking = link_to(alice, document)
    assert entered(looking).post(at(looking.link, "/ask"), {"question": "Hi?"}).status_code == 403
    assert ShareLink.objects.get(pk=made.link.pk).answers == 2
