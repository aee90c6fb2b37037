"""What requests may hit: one of each thing that can be addressed, made anew when it has been hit too hard.

Who asks is never on the list of those who can be deleted: the branch that we sit on stays.
"""

import base64
import random
import re
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone
from schemathesis import Case

from organizations.api.v1_doors import ORGANIZATION_HEADER
from organizations.models import EmailVerification, Invitation
from organizations.selectors import token_digest
from organizations.services import create_token
from tests.belongings import belongings_of
from tests.conftest import Person, make_person
from tests.data import make
from tests.documents.making import RECEIPT_FIELDS, response_format
from webhooks.models import Webhook

OFFLINE = "docrouter/offline"
CAMEL = re.compile(r"(?<=[a-z])[A-Z]")
FILES = {
    "a.pdf": base64.b64encode(make.pdf()).decode(),
    "b.txt": base64.b64encode(b"Total: 12.50").decode(),
    "c.csv": base64.b64encode(b"a,b\n1,2\n").decode(),
}
SORTS = ('[{"field":"name","sort":"asc"}]', '[{"field":"upload_date","sort":"desc"}]', "[]", "{", '[{"field":"x"}]')
FILTERS = (
    '{"items":[{"field":"document_name","operator":"contains","value":"a"}],"logicOperator":"or"}',
    '{"items":[{"field":"state","operator":"is","value":"uploaded"}]}',
    '{"items":[{"field":"created_at","operator":"after","value":"2026-01-01"}]}',
    '{"items":[{"field":"upload_date","operator":"before","value":"not a day"}]}',
    '{"items":7}',
    "null",
)


def is_of_account(case: Case) -> bool:
    """Whether an organization's token is nothing there."""
    return not case.path.startswith(("/v0/orgs/", "/v1/", "/document/"))


@dataclass
class Stage:
    """Who asks (the deployment's admin, in an organization) and what there is."""

    person: Person
    organization_token: str
    account_token: str
    things: dict[str, str] = field(default_factory=dict)
    account_things: dict[str, str] = field(default_factory=dict)
    _count: int = 0

    def restock(self) -> None:
        """Make one of each."""
        self._count += 1
        Webhook.objects.filter(organization=self.person.organization).delete()  # there may be only so many
        mark = f"Fuzz {self._count}"
        victim = make_person(f"victim{self._count}@example.com")
        token, _ = create_token(user=self.person.user, name=mark, organization=self.person.organization)
        own, _ = create_token(user=self.person.user, name=mark)
        invitation = self._invitation(victim)
        self.things = belongings_of(self.person, mark=mark).ids() | {"token_id": token.pk.hex}
        self.account_things = {
            "organization_id": victim.organization.pk.hex,
            "user_id": victim.user.pk.hex,
            "token_id": own.pk.hex,
            "token": random.choice((invitation, self._verification(victim))),
            "provider_name": random.choice(("openai", "anthropic", "groq")),
        }

    def _invitation(self, victim: Person) -> str:
        text = secrets.token_urlsafe(32)
        Invitation.objects.create(
            email=f"invited{self._count}@example.com",
            organization=victim.organization,
            role="user",
            invited_by=victim.user,
            digest=token_digest(token=text),
            expires_at=timezone.now() + timedelta(days=1),
        )
        return text

    def _verification(self, victim: Person) -> str:
        text = secrets.token_urlsafe(32)
        EmailVerification.objects.create(
            user=victim.user,
            email=victim.user.email,
            digest=token_digest(token=text),
            expires_at=timezone.now() + timedelta(days=1),
        )
        return text

    def token_for(self, case: Case) -> str:
        """The token that belongs to the address."""
        return self.account_token if is_of_account(case) else self.organization_token

    def season(self, case: Case, seed: int) -> None:
        """Put what really exists into the request, here and there."""
        dice = random.Random(seed)
        is_account = is_of_account(case)
        known = {**self.things, **(self.account_things if is_account else {})}
        for name in case.path_parameters or {}:
            if name == "organization_id" and not is_account:
                if dice.random() < 0.97:
                    case.path_parameters[name] = self.person.organization.pk.hex
            elif name in known and dice.random() < 0.75:
                case.path_parameters[name] = known[name]
        self._season_headers(case, dice)
        if isinstance(case.query, dict):
            case.query = self._seasoned(case.query, known, dice)
        if isinstance(case.body, dict | list):
            case.body = self._seasoned(case.body, known, dice)

    def _season_headers(self, case: Case, dice: random.Random) -> None:
        """`/v1` may name the organization in a header; another one than the token's ends every request at the door."""
        if case.headers is None or not case.path.startswith(("/v1/", "/document/")):
            return
        if dice.random() < 0.9:
            case.headers.pop(ORGANIZATION_HEADER, None)
        if dice.random() < 0.5:
            case.headers[ORGANIZATION_HEADER] = self.person.organization.pk.hex
        if case.path.endswith("/events") and dice.random() < 0.5:
            case.headers.pop("Last-Event-ID", None)
            case.headers["Accept"] = "text/event-stream"

    def _seasoned(self, value: Any, known: dict[str, str], dice: random.Random) -> Any:
        if isinstance(value, list):
            return [self._seasoned(part, known, dice) for part in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._better(key, part, known, dice) if dice.random() < 0.6 else self._seasoned(part, known, dice)
            for key, part in value.items()
        }

    def _better(self, key: str, value: Any, known: dict[str, str], dice: random.Random) -> Any:
        """Something that can be meant at such a place, else the value itself."""
        key = CAMEL.sub(lambda letter: f"_{letter[0].lower()}", key)
        if key == "after" and isinstance(value, str):
            return known.get(dice.choice(("document_id", "run_id")), value)
        if key in known:
            return known[key]
        if key.endswith("_ids") and key[:-1] in known:
            return [known[key[:-1]]] if isinstance(value, list) else known[key[:-1]]
        name = dice.choice(list(FILES))
        choices: dict[str, Any] = {
            "model": OFFLINE,
            "id": dice.choice([known.get("tag_id"), known.get("schema_revid"), known.get("prompt_revid")]),
            "content": FILES[name] if isinstance(value, str) else value,
            "file": FILES[name],
            "name": dice.choice([name, "Fuzz 1 prompt"]),
            "email": f"fuzz{dice.randrange(1000)}@example.com",
            "password": "a long enough secret",
            "response_format": response_format(RECEIPT_FIELDS),
            "sort": dice.choice(SORTS),
            "filters": dice.choice(FILTERS),
            "metadata_search": dice.choice(("a=b", "%25=%", "a=b,c=d", "=")),
            "messages": [{"role": "user", "content": dice.choice(("Hello", "List the tags", "Create a tag A"))}],
            "approvals": [{"call_id": known.get("call_name"), "approved": dice.random() < 0.5}],
            "updated_llm_result": {"number": "1", "total": 2},
            "data": {"number": "1", "date": "", "total": 2, "iban": ""},
            "members": [{"user_id": known.get("user_id", ""), "role": "admin"}],
        }
        return choices.get(key, self._seasoned(value, known, dice))
