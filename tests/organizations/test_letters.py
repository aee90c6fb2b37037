"""Verification and invitations: over JSON and on the pages, from the letter to the membership."""

import re
import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from organizations.letters.services import invite
from organizations.models import EmailVerification, Invitation, Membership, Organization, User
from organizations.services import create_user
from tests.api import Api, account_api_of
from tests.conftest import PASSWORD, Person, make_person
from tests.organizations.bad import BAD_IDS, NO_BODY_AT_ALL

ANYBODY = Api("/v0/account", "nothing")
NEW = {"name": "Ann", "password": PASSWORD}


@pytest.fixture
def api(alice: Person) -> Api:
    return account_api_of(alice)


@pytest.fixture
def root(db: None) -> Person:
    person = make_person("root@example.com")
    person.user.is_system_admin = True
    person.user.save()
    return person


def link() -> str:
    """The address in the newest letter."""
    found = re.search(r"https?://\S+", mail.outbox[-1].body)
    assert found
    return found.group()


def token() -> str:
    return link().rsplit("/", 1)[1]


def invited(api: Api, person: Person, email: str = "ann@example.com", role: str = "user") -> dict[str, Any]:
    body = {"email": email, "organization_id": person.organization.pk.hex, "role": role}
    answer: dict[str, Any] = api.post("email/invitations", body)
    return answer


@pytest.mark.parametrize("way", ["send", "register"])
def test_the_link_of_a_letter_confirms_an_address_once(api: Api, alice: Person, way: str) -> None:
    assert api.post(f"email/verification/{way}/{alice.user.pk.hex}")["message"] == "Verification email sent"
    assert mail.outbox[-1].to == ["alice@example.com"]
    assert link().startswith("http://testserver/verify-email/")
    assert token() not in str(EmailVerification.objects.values().get())
    assert ANYBODY.post(f"email/verification/{token()}") == {"message": "Email verified successfully"}
    assert ANYBODY.post(f"email/verification/{token()}") == {"message": "Email already verified"}
    assert api.get(f"users?user_id={alice.user.pk.hex}")["users"][0]["email_verified"] is True
    refused = api.error("post", f"email/verification/{way}/{alice.user.pk.hex}")
    assert refused == (400, "Email already verified")


def test_a_link_ends_with_its_day_with_a_newer_letter_and_with_the_address(api: Api, alice: Person) -> None:
    refused, address = (400, "Invalid verification token"), f"email/verification/send/{alice.user.pk.hex}"
    api.post(address)
    first = token()
    api.post(address)
    assert ANYBODY.error("post", f"email/verification/{first}") == refused
    User.objects.filter(pk=alice.user.pk).update(email="other@example.com")
    assert ANYBODY.error("post", f"email/verification/{token()}") == refused
    User.objects.filter(pk=alice.user.pk).update(email="alice@example.com")
    EmailVerification.objects.update(expires_at=timezone.now())
    assert ANYBODY.error("post", f"email/verification/{token()}") == refused
    for bad in BAD_IDS:
        assert ANYBODY.error("post", f"email/verification/{bad}") == refused
    alice.user.refresh_from_db()
    assert alice.user.email_verified is False


def test_letters_go_to_oneself_or_are_sent_by_who_runs_the_deployment(
    api: Api, alice: Person, bob: Person, root: Person
) -> None:
    assert api.error("post", f"email/verification/send/{bob.user.pk.hex}")[0] == 403
    assert mail.outbox == []
    account_api_of(root).post(f"email/verification/send/{bob.user.pk.hex}")
    for bad in BAD_IDS:
        assert account_api_of(root).raw("post", f"email/verification/send/{bad}").status_code == 404


def test_a_mail_server_that_fails_is_told_and_asking_again_helps(
    api: Api, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise smtplib.SMTPServerDisconnected("alice@example.com")

    address = f"email/verification/send/{alice.user.pk.hex}"
    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", fails)
        assert api.error("post", address) == (503, "The e-mail could not be sent. Try again in a moment.")
    api.post(address)


def test_links_lead_to_where_people_reach_us(api: Api, alice: Person, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://docs.example.com/"
    invited(api, alice)
    assert link().startswith("https://docs.example.com/invitation/")


def test_a_new_person_takes_an_invitation_with_a_name_and_a_password(api: Api, alice: Person) -> None:
    made = invited(api, alice, email="Ann@Example.com", role="admin")
    assert made.keys() == {
        "id", "email", "organization_id", "organization_name", "role", "user_exists", "created_at", "expires_at",
    }  # fmt: skip
    assert (made["email"], made["organization_name"]) == ("ann@example.com", "Alice's organization")
    assert (made["role"], made["user_exists"]) == ("admin", False)
    assert token() not in str(Invitation.objects.values().get())
    assert ANYBODY.get(f"email/invitations/{token()}") == made
    for incomplete in (None, {}, {"name": "Ann"}, {"name": " ", "password": PASSWORD}, NEW | {"password": "short"}):
        assert ANYBODY.error("post", f"email/invitations/{token()}/accept", incomplete)[0] == 400
    assert not User.objects.filter(email="ann@example.com").exists()
    accepted = ANYBODY.post(f"email/invitations/{token()}/accept", NEW)
    assert accepted == {"message": "Invitation accepted successfully"}
    ann = User.objects.get(email="ann@example.com")
    assert (ann.name, ann.email_verified, ann.is_system_admin, ann.check_password(PASSWORD)) == (
        "Ann",
        True,
        False,
        True,
    )
    assert ann.memberships.get().role == "admin"
    assert ANYBODY.error("post", f"email/invitations/{token()}/accept", NEW) == (404, "Invitation not found")
    assert api.get("email/invitations") == {"invitations": [], "total_count": 0, "skip": 0}


def test_a_known_person_only_joins_and_keeps_name_and_password(api: Api, alice: Person, charlie: Person) -> None:
    assert invited(api, alice, email="charlie@example.com")["user_exists"] is True
    ANYBODY.post(f"email/invitations/{token()}/accept", {"name": "Mallory", "password": "a secret of another"})
    charlie.user.refresh_from_db()
    assert (charlie.user.name, charlie.user.check_password(PASSWORD)) == ("Charlie", True)
    assert Membership.objects.get(user=charlie.user, organization=alice.organization).role == "user"
    again = {"email": "charlie@example.com", "organization_id": alice.organization.pk.hex}
    assert api.error("post", "email/invitations", again) == (400, "User is already a member of this organization")


def test_inviting_again_ends_the_earlier_link_and_a_link_ends_after_its_week(api: Api, alice: Person) -> None:
    invited(api, alice)
    first = token()
    invited(api, alice, email="ANN@example.com", role="admin")
    assert ANYBODY.error("get", f"email/invitations/{first}") == (404, "Invitation not found")
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for method, way in (("get", ""), ("post", "/accept")):
        assert ANYBODY.error(method, f"email/invitations/{token()}{way}") == (400, "Invitation has expired")
    assert api.get("email/invitations")["total_count"] == 0
    for bad in BAD_IDS:
        assert ANYBODY.error("get", f"email/invitations/{bad}") == (404, "Invitation not found")
        assert ANYBODY.error("post", f"email/invitations/{bad}/accept", NEW) == (404, "Invitation not found")


def test_admins_invite_to_their_own_organizations_only(
    api: Api, alice: Person, bob: Person, charlie: Person, root: Person
) -> None:
    body = {"email": "ann@example.com", "organization_id": alice.organization.pk.hex}
    for person in (bob, charlie):
        assert account_api_of(person).error("post", "email/invitations", body) == (403, "Admin access required")
    for bad in BAD_IDS:
        assert api.raw("post", "email/invitations", body | {"organization_id": bad}).status_code == 404
    assert (Invitation.objects.count(), mail.outbox) == (0, [])
    invited(api, alice)
    invited(account_api_of(root), charlie, email="dan@example.com")
    seen = {
        person.user.name: [row["email"] for row in account_api_of(person).get("email/invitations")["invitations"]]
        for person in (alice, bob, charlie, root)
    }
    assert seen == {
        "Alice": ["ann@example.com"],
        "Bob": [],
        "Charlie": ["dan@example.com"],
        "Root": ["dan@example.com", "ann@example.com"],
    }


def test_an_account_is_offered_by_who_runs_the_deployment(api: Api, root: Person) -> None:
    everything, body = account_api_of(root), {"email": "ann@example.com", "role": "user"}
    assert api.error("post", "email/invitations", body) == (403, "Admin access required")
    assert everything.error("post", "email/invitations", body | {"role": "admin"})[0] == 400
    assert everything.error("post", "email/invitations", body | {"email": "root@example.com"})[0] == 400
    assert everything.post("email/invitations", body)["organization_id"] is None
    ANYBODY.post(f"email/invitations/{token()}/accept", NEW)
    ann = User.objects.get(email="ann@example.com")
    assert ann.is_system_admin is False
    assert Organization.objects.get(memberships__user=ann).type == "individual"


def test_a_body_that_cannot_be_an_invitation_is_refused_and_nothing_is_sent(api: Api, alice: Person) -> None:
    body = {"email": "ann@example.com", "organization_id": alice.organization.pk.hex, "role": "user"}
    bad: list[tuple[Any, int]] = [
        *((raw, 422) for raw in NO_BODY_AT_ALL if not raw.startswith(b'{"name": "x", "extra": 9')),
        (body | {"role": "god"}, 422),
        (body | {"organization_id": 5}, 422),
        (body | {"email": "x" * 255}, 422),
        (body | {"email": ""}, 400),
        (body | {"email": "ann"}, 400),
        (body | {"email": "ann@example.com\nBcc: all@example.com"}, 400),
    ]
    for asked, status in bad:
        assert api.raw("post", "email/invitations", asked).status_code == status, asked
    assert (Invitation.objects.count(), mail.outbox) == (0, [])


def test_a_letter_s_words_come_from_nobody_s_markup_or_header(api: Api, alice: Person) -> None:
    Organization.objects.update(name="A & B <b>\r\nBcc: x@example.com")
    invited(api, alice)
    letter = mail.outbox[-1].message()
    assert letter["Bcc"] is None
    assert "A & B <b>" in mail.outbox[-1].body


def test_a_list_costs_the_same_for_3_and_30(api: Api, alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Invitation.objects.count(), total):
            invite(
                by=alice.user,
                email=f"u{number}@example.com",
                organization_id=alice.organization.pk,
                role="user",
                site="http://x",
            )
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get("email/invitations?limit=100")["invitations"]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert api.raw("get", "email/invitations?limit=101").status_code == 422


def test_a_person_confirms_an_address_on_the_page_by_a_button(api: Api, alice: Person, nobody: Client) -> None:
    api.post(f"email/verification/send/{alice.user.pk.hex}")
    leads = nobody.get(link())
    assert (leads["Location"], leads["Referrer-Policy"]) == ("/verify-email", "no-referrer")
    assert nobody.get("/verify-email").status_code == 200
    alice.user.refresh_from_db()
    assert alice.user.email_verified is False
    done = nobody.post("/verify-email", follow=True)
    assert "Your e-mail address is confirmed." in done.content.decode()
    alice.user.refresh_from_db()
    assert alice.user.email_verified is True


def test_a_person_takes_an_invitation_on_the_page(api: Api, alice: Person, nobody: Client) -> None:
    invited(api, alice)
    page = nobody.get(link(), follow=True)
    assert page.request["PATH_INFO"] == "/invitation"
    assert "Join Alice&#x27;s organization" in page.content.decode()
    refused = nobody.post("/invitation", {"name": "Ann", "password": "short"})
    assert refused.status_code == 422
    assert "too short" in refused.content.decode()
    assert nobody.post("/invitation", {"name": "Ann"}).status_code == 422
    done = nobody.post("/invitation", NEW, follow=True)
    assert "You have joined. Sign in to begin." in done.content.decode()
    assert nobody.post("/sign-in", {"username": "ann@example.com", "password": PASSWORD}).status_code == 302
    assert nobody.get(link(), follow=True).status_code == 404


def test_a_known_person_is_asked_for_nothing_on_the_page(api: Api, alice: Person, nobody: Client) -> None:
    create_user(email="ann@example.com", password=PASSWORD)
    invited(api, alice)
    assert 'name="password"' not in nobody.get(link(), follow=True).content.decode()
    assert nobody.post("/invitation").status_code == 302
    assert alice.organization.memberships.filter(user__email="ann@example.com").exists()
