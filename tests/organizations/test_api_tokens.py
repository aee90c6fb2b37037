"""Access tokens and signed sessions over JSON: what opens what, what ends them, and what is never told."""

import base64
import hashlib
import hmac
import json
import logging
from datetime import timedelta
from io import StringIO
from typing import Any

import jwt
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from core.ids import new_id
from organizations.models import AccessToken, ApiSession, User
from organizations.people.services import UserChanges, delete_user, update_user
from organizations.services import create_token, end_membership, open_session, revoke_sessions
from tests.api import Api, account_api_of, api_of
from tests.conftest import PASSWORD, Person
from tests.organizations.bad import BAD_IDS, NO_BODY_AT_ALL

KEY = "a key that a front end shares with this server"
INVALID = (401, "Invalid authentication credentials: invalid token")


@pytest.fixture
def shared(settings: Settings) -> None:
    settings.REQUEST_SIGNING_KEYS = [KEY]


def sign_in(body: Any, *, key: str = KEY, signature: str | None = None) -> HttpResponse:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    made = hmac.new(key.encode(), raw, hashlib.sha256).hexdigest() if signature is None else signature
    headers = {"X-Request-Signature": made} if made else {}
    return Client().post("/v0/account/auth/token", raw, content_type="application/json", headers=headers)


def who(person: Person, **changes: str) -> dict[str, str]:
    return {"id": person.user.pk.hex, "name": "whatever", "email": person.user.email} | changes


def session_of(person: Person) -> Api:
    return Api("/v0/account", open_session(user=person.user))


@pytest.mark.usefixtures("shared")
def test_a_signed_request_opens_a_session_that_works_at_the_account_and_at_organizations(alice: Person) -> None:
    answer = sign_in(who(alice))
    assert answer.status_code == 200
    token = answer.json()["token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims.keys() == {"userId", "userName", "email", "exp", "jti"}
    assert (claims["userId"], claims["userName"], claims["email"]) == (alice.user.pk.hex, "Alice", alice.user.email)
    assert 86_390 < claims["exp"] - timezone.now().timestamp() <= 86_400
    assert Api("/v0/account", token).get("users")["total_count"] == 1
    assert Api(f"/v0/orgs/{alice.organization.pk.hex}", token).get("tags")["total_count"] == 0


@pytest.mark.usefixtures("shared")
def test_the_person_is_found_by_id_or_else_by_address_and_must_exist(alice: Person, bob: Person) -> None:
    for asked in (who(alice, email="other@example.com"), who(alice, id="no id"), who(alice, id=new_id().hex)):
        token = sign_in(asked).json()["token"]
        assert jwt.decode(token, options={"verify_signature": False})["userId"] == alice.user.pk.hex
    refused = sign_in({"id": "x", "name": "x", "email": "nobody@example.com"})
    assert (refused.status_code, refused.json()["detail"]) == (401, "User not found in database")
    bob.user.is_active = False
    bob.user.save()
    assert sign_in(who(bob)).status_code == 401


def test_without_a_shared_key_nobody_signs_in_this_way(alice: Person, settings: Settings) -> None:
    settings.REQUEST_SIGNING_KEYS = []
    refused = sign_in(who(alice), key="")
    assert (refused.status_code, refused.json()["detail"]) == (500, "Server configuration error")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("signature", ["x", "0" * 64, "é", "00" * 5000])
def test_a_wrong_signature_is_refused(alice: Person, signature: str) -> None:
    refused = sign_in(who(alice), signature=signature)
    assert (refused.status_code, refused.json()["detail"]) == (401, "Invalid request signature")
    assert ApiSession.objects.count() == 0


@pytest.mark.usefixtures("shared")
def test_a_missing_signature_and_another_s_key_are_refused(alice: Person, settings: Settings) -> None:
    assert sign_in(who(alice), signature="").json()["detail"] == "Missing X-Request-Signature header"
    assert sign_in(who(alice), key=settings.SESSION_SIGNING_KEYS[0]).status_code == 401
    assert sign_in(who(alice), key=settings.SECRET_KEY).status_code == 401


@pytest.mark.usefixtures("shared")
def test_a_signed_body_that_is_no_json_is_400_and_one_of_another_form_422(db: None) -> None:
    for raw in NO_BODY_AT_ALL:
        answer = sign_in(raw)
        is_json = raw in (b"[]", b"null", b'"text"') or raw.startswith((b'{"name": {', b'{"name": 5'))
        assert answer.status_code == (422 if is_json else 400), raw
        assert is_json or answer.json()["detail"].startswith("Invalid JSON: ")
    assert ApiSession.objects.count() == 0


def test_keys_rotate_the_first_signs_and_all_are_accepted(alice: Person, settings: Settings) -> None:
    settings.REQUEST_SIGNING_KEYS = ["the new one" * 4, KEY]
    assert sign_in(who(alice)).status_code == 200
    old = session_of(alice)
    settings.SESSION_SIGNING_KEYS = ["a new key for sessions, long enough", *settings.SESSION_SIGNING_KEYS]
    assert old.get("users")
    assert session_of(alice).get("users")
    settings.SESSION_SIGNING_KEYS = settings.SESSION_SIGNING_KEYS[:1]
    assert old.error("get", "users") == INVALID


def test_a_session_ends_when_it_is_revoked_or_has_expired(alice: Person) -> None:
    api = session_of(alice)
    revoke_sessions(user=alice.user)
    assert api.error("get", "users") == INVALID
    late = session_of(alice)
    ApiSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert late.error("get", "users") == INVALID
    session_of(alice)
    assert ApiSession.objects.count() == 1  # the dead ones are swept


def test_an_operator_ends_the_sessions_of_a_person(alice: Person) -> None:
    api, told = session_of(alice), StringIO()
    call_command("revoke_sessions", email="ALICE@example.com", stdout=told)
    assert told.getvalue() == "1\n"
    assert api.error("get", "users") == INVALID
    with pytest.raises(CommandError, match="User not found"):
        call_command("revoke_sessions", email="nobody@example.com")


def test_a_session_ends_with_the_password_however_it_is_set(alice: Person) -> None:
    api = session_of(alice)
    update_user(by=alice.user, user_id=alice.user.pk, changes=UserChanges(password="another long secret"))
    assert api.error("get", "users") == INVALID
    alice.user.refresh_from_db()
    api = session_of(alice)
    alice.user.set_password("a third long secret")
    alice.user.save()
    assert api.error("get", "users") == INVALID


def test_a_session_and_the_tokens_end_with_the_person(alice: Person, bob: Person) -> None:
    session, token, account = session_of(bob), api_of(bob), account_api_of(bob)
    bob.user.is_active = False
    bob.user.save()
    assert session.error("get", "users") == token.error("get", "tags") == account.error("get", "users") == INVALID
    bob.user.is_active = True
    bob.user.save()
    delete_user(by=bob.user, user_id=bob.user.pk)
    assert session.error("get", "users") == token.error("get", "tags") == account.error("get", "users") == INVALID
    assert not AccessToken.objects.filter(user=bob.user).exists()


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"jti": "x", "exp": 9_999_999_999},
        {"jti": 5, "exp": 9_999_999_999},
        {"jti": "0" * 32, "exp": 9_999_999_999},
        {"jti": "0" * 32},
        {"jti": "0" * 32, "exp": "soon"},
        {"jti": ["0" * 32], "exp": 9_999_999_999},
    ],
)
def test_a_token_of_our_own_key_that_names_no_living_session_is_invalid(
    db: None, settings: Settings, claims: dict[str, Any]
) -> None:
    forged = Api("/v0/account", jwt.encode(claims, settings.SESSION_SIGNING_KEYS[0], algorithm="HS256"))
    assert forged.error("get", "users") == INVALID


def test_a_forged_token_is_invalid(alice: Person) -> None:
    good = open_session(user=alice.user)
    claims = jwt.decode(good, options={"verify_signature": False})
    head, body, signature = good.split(".")
    forged = [
        jwt.encode(claims, "another key that is long enough..", algorithm="HS256"),
        jwt.encode(claims, "", algorithm="none"),
        f"{head}.{body}.",
        f"{head}.{body}x.{signature}",
        "..",
        "a.b.c",
        "é.é.é",
        f"{head}.{body}.{signature}{'x' * 100_000}",
        *(
            f"{base64.urlsafe_b64encode(bad).decode().rstrip('=')}.{body}.{signature}"
            for bad in (b"[" * 2000, b"5", b"{}", b'{"alg": ["HS256"]}', b'{"alg": "HS256", "crit": 5}', b"\xff")
        ),
    ]
    for text in forged:
        answer = Client().get("/v0/account/users", headers={"Authorization": f"Bearer {text}"})
        assert answer.status_code == 401, text[:50]


def test_account_tokens_are_made_listed_and_ended(alice: Person) -> None:
    api = session_of(alice)
    made = api.post("access_tokens", {"name": "ci", "lifetime": 30})
    assert made.keys() == {"id", "user_id", "organization_id", "name", "token", "created_at", "lifetime"}
    assert (made["organization_id"], made["lifetime"], made["token"][:4]) == (None, 30, "acc_")
    assert len(made["token"]) == 47
    assert Api("/v0/account", made["token"]).get("access_tokens") == api.get("access_tokens")
    listed = api.get("access_tokens")["access_tokens"]
    assert listed == [{**made, "token": made["token"][:10]}]
    assert api.delete(f"access_tokens/{made['id']}") == {"message": "Token deleted successfully"}
    assert api.error("delete", f"access_tokens/{made['id']}") == (404, "Token not found")
    assert Api("/v0/account", made["token"]).error("get", "users") == INVALID


def test_organization_tokens_are_made_listed_and_ended_by_each_member_for_themselves(
    alice: Person, bob: Person, charlie: Person
) -> None:
    base = f"/v0/orgs/{alice.organization.pk.hex}"
    hers, his = (Api(base, open_session(user=person.user)) for person in (alice, bob))
    made = hers.post("access_tokens", {"name": "ci", "lifetime": 0})
    assert (made["organization_id"], made["token"][:4]) == (alice.organization.pk.hex, "org_")
    assert Api(base, made["token"]).get("tags")["total_count"] == 0
    assert his.get("access_tokens") == {"access_tokens": []}
    assert his.error("delete", f"access_tokens/{made['id']}") == (404, "Token not found")
    stranger = Api(base, open_session(user=charlie.user))
    sentence = "You are not authorized to create an organization-level API token"
    assert stranger.error("post", "access_tokens", {"name": "ci", "lifetime": 0}) == (403, sentence)
    assert session_of(alice).error("delete", f"access_tokens/{made['id']}") == (404, "Token not found")
    assert hers.delete(f"access_tokens/{made['id']}")["message"] == "Token deleted successfully"


def test_a_token_ends_with_the_membership_and_does_not_come_back_with_it(alice: Person, bob: Person) -> None:
    api = api_of(bob)
    end_membership(actor=alice.actor, membership=bob.user.memberships.get())
    assert api.error("get", "tags") == INVALID


def test_who_runs_the_deployment_may_hold_a_token_of_any_organization(alice: Person, charlie: Person) -> None:
    charlie.user.is_system_admin = True
    charlie.user.save()
    base = f"/v0/orgs/{alice.organization.pk.hex}"
    made = Api(base, open_session(user=charlie.user)).post("access_tokens", {"name": "x", "lifetime": 0})
    assert Api(base, made["token"]).error("get", "tags") == (403, "You are not a member of this organization")
    nowhere = Api(f"/v0/orgs/{new_id().hex}", open_session(user=charlie.user))
    assert nowhere.error("post", "access_tokens", {"name": "x", "lifetime": 0})[0] == 403


BAD: list[tuple[bytes, int]] = [
    *((raw, 422) for raw in NO_BODY_AT_ALL),
    (b'{"name": "x"}', 422),
    (b'{"name": "x", "lifetime": "soon"}', 422),
    (b'{"name": "x", "lifetime": 1.5}', 422),
    (b'{"name": "x", "lifetime": null}', 422),
    (b'{"name": "x", "lifetime": -1}', 400),
    (b'{"name": "x", "lifetime": 99999999999999999999}', 400),
    (b'{"name": "' + b"x" * 201 + b'", "lifetime": 0}', 400),
]


def test_a_token_that_cannot_be_is_refused_and_nothing_is_written(alice: Person) -> None:
    for api in (account_api_of(alice), api_of(alice)):
        for body, status in BAD:
            assert api.raw("post", "access_tokens", body).status_code == status, body
    assert AccessToken.objects.count() == 2


def test_a_malformed_id_of_a_token_is_not_found(alice: Person) -> None:
    for api in (account_api_of(alice), api_of(alice)):
        for bad in BAD_IDS:
            assert api.raw("delete", f"access_tokens/{bad}").status_code == 404, bad


def test_lists_of_tokens_cost_the_same_for_3_and_30(alice: Person) -> None:
    for api, organization in ((account_api_of(alice), None), (api_of(alice), alice.organization)):
        counts = []
        for number in (2, 29):
            for _ in range(AccessToken.objects.filter(organization=organization).count(), number + 1):
                create_token(user=alice.user, name="x", organization=organization)
            with CaptureQueriesContext(connection) as queries:
                assert len(api.get("access_tokens")["access_tokens"]) == number + 1
            counts.append(len(queries))
        assert counts[0] == counts[1]


def resolved(token: str) -> HttpResponse:
    return Client().get("/v0/account/token/organization", {"token": token})


def test_a_token_tells_its_organization_to_whoever_holds_it(alice: Person) -> None:
    _, text = create_token(user=alice.user, name="x", organization=alice.organization)
    assert resolved(text).json() == {
        "organization_id": alice.organization.pk.hex,
        "organization_name": alice.organization.name,
        "organization_type": "team",
    }
    _, of_account = create_token(user=alice.user, name="x")
    nothing = {"organization_id": None, "organization_name": None, "organization_type": None}
    assert resolved(of_account).json() == nothing
    alice.organization.deleted_at = timezone.now()
    alice.organization.save()
    assert resolved(text).json() == nothing | {"organization_id": alice.organization.pk.hex}


def test_what_is_no_living_token_has_no_organization(alice: Person) -> None:
    row, expired = create_token(user=alice.user, name="x", organization=alice.organization, lifetime_days=1)
    AccessToken.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    for text in ("", "x", expired, open_session(user=alice.user), "acc_" + "x" * 10_000, "é"):
        answer = resolved(text)
        assert (answer.status_code, answer.json()["detail"]) == (401, "Invalid token")
    assert Client().get("/v0/account/token/organization").status_code == 422
    assert resolved("\0").status_code == 422


def test_no_token_reaches_a_log(alice: Person, nobody: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    _, text = create_token(user=alice.user, name="x")
    resolved(text)
    resolved(text + "x")
    resolved(f"{text}\0")
    for way in ("verification/", "invitations/", "invitations/{}/accept"):
        address = f"/v0/account/email/{way}" if "{}" in way else f"/v0/account/email/{way}{{}}"
        nobody.get(address.format(text))
        nobody.post(address.format(text))
        nobody.put(address.format(text))
    for page in ("verify-email", "invitation"):
        nobody.get(f"/{page}/{text}", follow=True)
        nobody.post(f"/{page}", {"name": "x", "password": PASSWORD})
        Client(enforce_csrf_checks=True).post(f"/{page}/{text}")
        nobody.post(f"/{page}/{text}")
        nobody.put(f"/{page}/{text}")
        nobody.post(f"/{page}/{text}", {"name": "x", "password": PASSWORD})
    nobody.post(f"/v0/account/email/invitations/{text}/accept", {"password": PASSWORD}, "application/json")
    session = open_session(user=alice.user)
    for body in ({"password": PASSWORD}, {"password": [PASSWORD]}, {"role": PASSWORD}):
        Api("/v0/account", session).raw("put", f"users/{alice.user.pk.hex}", body)
    session = open_session(user=User.objects.get(pk=alice.user.pk))
    Client().get("/v0/account/users/x", headers={"Authorization": f"Bearer {session}"})
    Client().post("/v0/account/access_tokens", {"password": PASSWORD}, headers={"Authorization": f"Bearer {session}"})
    assert [line for line in caplog.messages if text in line or session in line or PASSWORD in line] == []


@pytest.mark.usefixtures("shared")
def test_signing_in_is_limited_for_each_person_and_guessing_for_each_address(
    alice: Person, bob: Person, settings: Settings
) -> None:
    settings.RATE_LIMIT_SCALE, settings.RATE_LIMITS = 1, settings.RATE_LIMITS | {"sign_in": 2, "token_resolve": 2}
    assert [sign_in(who(alice)).status_code for _ in range(3)] == [200, 200, 429]
    assert sign_in(who(bob)).status_code == 200
    assert [sign_in(who(alice), signature="x").status_code for _ in range(3)] == [401, 401, 429]
    assert [resolved("x").status_code for _ in range(3)] == [401, 401, 429]
    assert resolved("x").headers["Retry-After"]
