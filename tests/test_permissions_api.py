"""Who gets what over JSON: every method of every address, tried by nobody, charlie (a stranger), bob, alice, root (who
runs the deployment and belongs to none of alice's organization), an expired token, and a token of the other kind.

The things are alice's. Addresses come from the resolver: one without a row fails, and so does a row without one. A
refusal is also held to have shown nothing of alice's and written nothing.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, resolve, reverse
from django.utils import timezone

from core.api.views import AsyncApiView
from core.ids import new_id
from organizations.models import AccessToken, AuditEntry
from organizations.services import create_token, open_session
from tests.belongings import MARK, Belongings, belongings_of
from tests.conftest import Person, make_person
from tests.test_permissions import routes

WHO = ("nobody", "charlie", "bob", "alice", "root", "expired", "wrong context")
Row = tuple[int, int, int, int, int, int, int]
MEMBERS: Row = (401, 403, 200, 200, 403, 401, 401)
ADMINS: Row = (401, 403, 403, 200, 403, 401, 401)
ANYBODY_SIGNED_IN: Row = (401, 200, 200, 200, 200, 401, 401)
SYSTEM_ADMIN: Row = (401, 403, 403, 403, 200, 401, 401)
EVERYBODY: Row = (200, 200, 200, 200, 200, 200, 200)
UNKNOWN: Row = (404, 404, 404, 404, 404, 404, 404)


def members(status: int) -> Row:
    """For members, whose call ends so; the others do not come that far."""
    return (401, 403, status, status, 403, 401, 401)


def author(status: int = 200) -> Row:
    """For alice; bob may not know of it."""
    return (401, 403, 404, status, 403, 401, 401)


def refused_admin(status: int) -> Row:
    """For who runs the deployment, whose call ends so; the others do not come that far."""
    return (401, 403, 403, 403, status, 401, 401)


@dataclass(frozen=True)
class Way:
    """What a method gives. `body` may name ids of alice's things as "{tag_id}"; `query` likewise."""

    row: Row
    body: Any = None
    query: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    place: dict[str, str] = field(default_factory=dict)
    """Ids of the address that this method takes instead."""
    public: bool = False
    """Says who it is for in another way than a credential (a signature, a token in the body)."""


MEMBERS_AND_ROOT: Row = (401, 403, 200, 200, 200, 401, 401)
RUNS_IT: Row = (401, 403, 403, 200, 200, 401, 401)
NOBODYS_THING: Row = (401, 404, 404, 404, 404, 401, 401)
DECIDERS: Row = (401, 403, 400, 200, 403, 401, 401)  # a turn that is not theirs cannot be told from an expired one
TAG = {"name": "Paid"}
SAID = {"model": "docrouter/offline", "messages": [{"role": "user", "content": "Say hello"}]}
OF_PROMPT = {"prompt_revid": "{prompt_revid}"}
TOKEN = {"name": "ci", "lifetime": 1}
NEW_USER = {"email": "ann@example.com", "name": "Ann", "password": "a long enough secret"}
WAYS: dict[str, dict[str, Way]] = {
    "unknown": {method: Way(UNKNOWN) for method in ("get", "post", "put", "patch", "delete")},
    "unknown_v1": {method: Way(UNKNOWN) for method in ("get", "post", "put", "patch", "delete")},
    "description": {"get": Way(EVERYBODY)},
    "docs": {"get": Way(EVERYBODY)},
    "auth_token": {"post": Way((500,) * 7, {"id": "x", "name": "x", "email": "x"}, public=True)},  # no key is shared
    "account_tokens": {"get": Way(ANYBODY_SIGNED_IN), "post": Way(ANYBODY_SIGNED_IN, TOKEN)},
    "account_token": {"delete": Way(NOBODYS_THING)},
    "organization_tokens": {"get": Way(MEMBERS_AND_ROOT), "post": Way(MEMBERS_AND_ROOT, TOKEN)},
    "organization_token": {"delete": Way((401, 403, 404, 404, 404, 401, 401))},
    "token_organization": {"get": Way((401,) * 7, query={"token": "nonsense"})},
    "organizations": {"get": Way(ANYBODY_SIGNED_IN), "post": Way(ANYBODY_SIGNED_IN, {"name": "A new one"})},
    "organization": {"put": Way(RUNS_IT, {"name": "Renamed", "type": "team"}), "delete": Way(RUNS_IT)},
    "users": {"get": Way(ANYBODY_SIGNED_IN), "post": Way(SYSTEM_ADMIN, NEW_USER)},
    "user": {"put": Way(RUNS_IT, {"name": "Alicia"}), "delete": Way((401, 403, 403, 400, 400, 401, 401))},  # last admin
    "email_verification_send": {"post": Way(RUNS_IT)},
    "email_verification_register": {"post": Way(RUNS_IT)},
    "email_verification": {"post": Way((400,) * 7, public=True)},
    "invitations": {
        "get": Way(ANYBODY_SIGNED_IN),
        "post": Way(RUNS_IT, {"email": "ann@example.com", "organization_id": "{organization_id}", "role": "user"}),
    },
    "invitation": {"get": Way(UNKNOWN)},
    "invitation_accept": {"post": Way(UNKNOWN, {"name": "Ann", "password": "a long enough secret"}, public=True)},
    "tags": {"get": Way(MEMBERS), "post": Way(MEMBERS, TAG)},
    "auto_create": {"get": Way(MEMBERS)},
    "auto_create_tag": {"get": Way(members(409), query={"tag_id": "{tag_id}"})},
    "auto_create_accept": {"post": Way(members(409))},
    "auto_create_reject": {"post": Way(members(409))},
    "auto_create_retry": {"post": Way(members(409))},
    "chat": {"post": Way(MEMBERS, {"messages": [{"role": "user", "content": "What can you do?"}]})},
    "chat_approve": {"post": Way(DECIDERS, {"turn_id": "{turn_id}", "approvals": []})},
    "chat_cancel": {"post": Way(DECIDERS, {"turn_id": "{turn_id}"})},
    "chat_tools": {"get": Way(MEMBERS)},
    "chat_threads": {"get": Way(MEMBERS), "post": Way(MEMBERS)},
    "chat_thread": {
        "get": Way(author()),
        "put": Way(author(), {"title": "Renamed"}),
        "patch": Way(author(), {"title": "Renamed"}),
        "delete": Way(author()),
    },
    "chat_turn": {"get": Way(author())},
    "chat_turn_events": {"get": Way(author())},
    "account_llm_models": {"get": Way(ANYBODY_SIGNED_IN)},
    "llm_models": {"get": Way(MEMBERS)},
    "llm_providers": {"get": Way(SYSTEM_ADMIN)},
    "llm_provider": {"put": Way(refused_admin(409), {"enabled": True})},  # the tests' environment keeps providers fixed
    "account_llm_run": {"post": Way(SYSTEM_ADMIN, SAID)},
    "organization_llm_run": {"post": Way(SYSTEM_ADMIN, SAID)},
    "llm_test_embedding": {"post": Way(refused_admin(400), {"model": "text-embedding-3-small", "input": "x"})},
    "llm_run_document": {"post": Way(MEMBERS, query=OF_PROMPT)},
    "llm_result": {
        "get": Way(MEMBERS, query=OF_PROMPT),
        "put": Way(MEMBERS, {"updated_llm_result": {"number": "1", "total": 1}}, OF_PROMPT),
        "delete": Way(MEMBERS, query=OF_PROMPT),
    },
    "llm_results_download": {"get": Way(MEMBERS)},
    "llm_bulk_analyze": {"post": Way(MEMBERS, {"tag_id": "{tag_id}"})},
    "tag": {"get": Way(MEMBERS), "put": Way(MEMBERS, TAG), "delete": Way(members(400))},  # a document has it
}
WAYS |= {
    "documents": {"get": Way(MEMBERS), "post": Way(MEMBERS, {"documents": []})},
    "documents_multipart": {"post": Way(members(422), {})},  # no file came with it
    "document": {"get": Way(MEMBERS), "put": Way(MEMBERS, {"document_name": "June.pdf"}), "delete": Way(MEMBERS)},
    "document_file": {"get": Way(MEMBERS)},
    "ocr_blocks": {"get": Way(MEMBERS)},
    "ocr_json": {"get": Way(MEMBERS)},
    "ocr_text": {"get": Way(MEMBERS)},
    "ocr_metadata": {"get": Way(MEMBERS)},
    "ocr_run": {"post": Way(MEMBERS)},
    "ocr_export_markdown": {"get": Way(MEMBERS)},
    "ocr_export_html": {"get": Way(MEMBERS)},
    "ocr_export_tables": {"get": Way(members(404))},  # there is no table in it
    "ocr_bulk_analyze": {"post": Way(MEMBERS, {"mode": "all"})},
}
NAMED = {"name": "Renamed"}
PROMPT = {"name": "New", "content": "Read it."}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {}}}}
BY_REVISION = {"schema_id": "{schema_revid}", "prompt_id": "{prompt_revid}"}
WAYS |= {
    "schemas": {"get": Way(MEMBERS), "post": Way(MEMBERS, {"name": "New", "response_format": FORMAT})},
    "schema": {
        "get": Way(MEMBERS, place=BY_REVISION),
        "put": Way(MEMBERS, NAMED),
        "delete": Way(members(400)),  # a prompt uses it
    },
    "schema_versions": {"get": Way(MEMBERS)},
    "schema_validate": {"post": Way(MEMBERS, {"data": {}})},
    "prompts": {"get": Way(MEMBERS, query={"document_id": "{document_id}"}), "post": Way(MEMBERS, PROMPT)},
    "prompt": {"get": Way(MEMBERS, place=BY_REVISION), "put": Way(MEMBERS, PROMPT), "delete": Way(MEMBERS)},
    "prompt_versions": {"get": Way(MEMBERS)},
}
WEBHOOK = {"name": "New", "url": "https://example.com/hook"}
WAYS |= {
    "webhooks": {"get": Way(MEMBERS), "post": Way(ADMINS, WEBHOOK)},
    "webhook": {"get": Way(MEMBERS), "put": Way(ADMINS, {"enabled": True}), "delete": Way(ADMINS)},
    "webhook_test": {"post": Way(ADMINS)},
    "webhook_deliveries": {"get": Way(MEMBERS)},
    "webhook_delivery": {"get": Way(MEMBERS)},
    "webhook_delivery_retry": {"post": Way(ADMINS)},
}
V1_FILE = {"name": "a.txt", "content": "VG90YWw6IDEyLjUwIEVVUg=="}
QUESTION = {"input": "What is the total?"}
WAYS |= {
    "unknown_alias": {method: Way(UNKNOWN) for method in ("get", "post", "put", "patch", "delete")},
    "v1_documents": {"get": Way(MEMBERS), "post": Way(members(201), V1_FILE)},
    "v1_document": {"get": Way(MEMBERS), "delete": Way(members(204))},
    "v1_events": {"get": Way(MEMBERS)},
    "v1_runs": {"get": Way(MEMBERS), "post": Way(members(202))},
    "v1_run": {"get": Way(MEMBERS)},
    "v1_run_cancel": {"post": Way(members(409))},  # it has ended
    "v1_alias_upload": {"post": Way(members(422))},  # no file came with it
    "v1_alias_status": {"get": Way(MEMBERS)},
    "v1_alias_reparse": {"post": Way(members(202))},
    "v1_alias_completion": {"post": Way(MEMBERS, QUESTION)},
    "v1_responses": {"post": Way(MEMBERS, QUESTION)},
    "v1_response": {"get": Way(author())},
    "v1_responses_stream": {"post": Way(MEMBERS, QUESTION)},
    "v1_shared_responses": {"post": Way((401,) * 7, QUESTION, public=True)},  # a token opens it, whoever has it
    "v1_share_links": {"get": Way(MEMBERS), "post": Way(members(201))},
    "v1_share_link": {"delete": Way(members(204))},
    "v1_share": {"get": Way((401,) * 7, query={"token": "nonsense"})},  # a token opens it, whoever has it
    "v1_publish": {"get": Way(MEMBERS), "post": Way(members(201))},
    "v1_publication": {"get": Way(UNKNOWN)},  # for whoever has its address; this is none
}
METHODS = ("get", "post", "put", "patch", "delete")
ALL = {name.removeprefix("v0:"): kept for name, kept in routes(get_resolver().url_patterns) if name.startswith("v0:")}
CASES = [(name, method) for name in ALL for method in METHODS]
FIXED = {"provider_name": "openai", "rest": "nonsense", "token": "nonsense", "token_id": "nonsense", "slug": "nonsense"}
SOMEBODY = new_id().hex
ASYNCHRONOUS = {
    name: issubclass(
        getattr(resolve(reverse(f"v0:{name}", kwargs=dict.fromkeys(taken, SOMEBODY))).func, "cls", object), AsyncApiView
    )
    for name, taken in ALL.items()
}
"""Whether its work is done on other connections, so that rows must be committed for it to see them."""


@pytest.fixture
def things(alice: Person) -> Belongings:
    return belongings_of(alice)


@dataclass(frozen=True)
class Credentials:
    """What each one sends at an organization's addresses, at the account's, and at those of `/v1`."""

    at_organization: dict[str, str]
    at_account: dict[str, str]
    at_v1: dict[str, str]
    """There the header names alice's organization, and a token of another one is of the wrong kind."""

    def for_(self, place: str) -> dict[str, str]:
        if place.startswith(("/v1/", "/document/")):
            return self.at_v1
        return self.at_account if place.startswith("/v0/account") else self.at_organization


@pytest.fixture
def credentials(alice: Person, bob: Person, charlie: Person) -> Credentials:
    """People come with a signed session, which is good everywhere; the two last with tokens."""
    root = make_person("root@example.com")
    root.user.is_system_admin = True
    root.user.save()
    people = {"charlie": charlie, "bob": bob, "alice": alice, "root": root}
    sessions = {"nobody": ""} | {who: open_session(user=person.user) for who, person in people.items()}
    of_organization, of_account = (
        {
            name: create_token(user=alice.user, name=name, organization=place, lifetime_days=1)
            for name in ("expired", "fresh")
        }
        for place in (alice.organization, None)
    )
    _, foreign = create_token(user=charlie.user, name="foreign", organization=charlie.organization)
    expired = [of_organization["expired"][0].pk, of_account["expired"][0].pk]
    AccessToken.objects.filter(pk__in=expired).update(expires_at=timezone.now() - timedelta(days=1))
    return Credentials(
        sessions | {"expired": of_organization["expired"][1], "wrong context": of_account["fresh"][1]},
        sessions | {"expired": of_account["expired"][1], "wrong context": of_organization["fresh"][1]},
        sessions | {"expired": of_organization["expired"][1], "wrong context": foreign},
    )


def address(name: str, ids: dict[str, str]) -> str:
    return reverse(f"v0:{name}", kwargs={key: FIXED.get(key) or ids[key] for key in ALL[name]})


def filled(value: Any, ids: dict[str, str]) -> Any:
    """The same with "{tag_id}" and the like replaced."""
    if isinstance(value, dict):
        return {key: filled(part, ids) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, ids) for part in value]
    return ids.get(value[1:-1], value) if isinstance(value, str) and value.startswith("{") else value


def ask(name: str, method: str, way: Way, token: str, ids: dict[str, str]) -> tuple[int, str]:
    """Status and all that was shown."""
    body = b"" if way.body is None else json.dumps(filled(way.body, ids)).encode()
    headers = {"X-Organization-Id": ids["organization_id"]} | ({"Authorization": f"Bearer {token}"} if token else {})
    query = {key: filled(text, ids) for key, text in way.query.items()}
    kind, place = way.content_type, address(name, ids | filled(way.place, ids))
    answer = Client(raise_request_exception=False).generic(
        method.upper(), place, body, content_type=kind, headers=headers, query_params=query
    )
    shown = async_to_sync(streamed)(answer) if answer.streaming else answer.content
    return answer.status_code, shown.decode(errors="replace")


async def streamed(answer: Any) -> bytes:
    if not answer.is_async:
        return b"".join(answer.streaming_content)
    return b"".join([chunk async for chunk in answer.streaming_content])


def ids_of(things: Belongings, alice: Person) -> dict[str, str]:
    return things.ids() | {"organization_id": alice.organization.pk.hex, "user_id": alice.user.pk.hex} | FIXED


@contextmanager
def undone() -> Iterator[None]:
    """What is written inside is not there afterwards. Asynchronous addresses work on connections of their own."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def wrong_ends(name: str, method: str, credentials: Credentials, ids: dict[str, str]) -> list[str]:
    """What differs from the table, for one method of one address."""
    way, wrong = WAYS[name].get(method), []
    tokens = credentials.for_(address(name, ids))
    if way is None:
        status, _ = ask(name, method, Way(MEMBERS), tokens["alice"], ids)
        return [] if status in (405, 403) else [f"{method} {name}: {status}, there is no such method"]
    for who, wanted in zip(WHO, way.row, strict=True):
        before = AuditEntry.objects.count()
        with nullcontext() if ASYNCHRONOUS[name] else undone():
            status, shown = ask(name, method, way, tokens[who], ids)
            refused = status >= 400
            if refused and AuditEntry.objects.count() != before:
                wrong.append(f"{method} {name} by {who}: refused, and wrote")
        if status != wanted:
            wrong.append(f"{method} {name} by {who}: {status}, the table says {wanted}: {shown[:200]}")
        if who not in ("bob", "alice") and MARK in shown:
            wrong.append(f"{method} {name} shows {who} something of alice's")
    return wrong


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    assert set(ALL) == set(WAYS)


def test_every_method_of_every_address_gives_each_one_what_the_table_says(
    credentials: Credentials, things: Belongings, alice: Person
) -> None:
    ids = ids_of(things, alice)
    wrong = [
        line for name, method in CASES if not ASYNCHRONOUS[name] for line in wrong_ends(name, method, credentials, ids)
    ]
    assert "\n".join(wrong) == ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [name for name in ALL if ASYNCHRONOUS[name]])
def test_addresses_that_wait_for_models_give_each_one_what_the_table_says(
    credentials: Credentials, things: Belongings, alice: Person, name: str
) -> None:
    ids = ids_of(things, alice)
    assert "\n".join(line for method in METHODS for line in wrong_ends(name, method, credentials, ids)) == ""


@pytest.mark.django_db(transaction=True)
def test_a_browser_session_needs_the_token_against_forgery(alice: Person, things: Belongings) -> None:
    client, ids = Client(enforce_csrf_checks=True), ids_of(things, alice)
    client.force_login(alice.user)
    assert client.get(address("tags", ids)).status_code == 200
    for name, methods in WAYS.items():
        for method in set(methods) - {"get"}:
            if methods[method].row not in (UNKNOWN, EVERYBODY) and not methods[method].public:
                answer = client.generic(method.upper(), address(name, ids), b"{}", content_type="application/json")
                assert answer.status_code == 403, (name, method)
