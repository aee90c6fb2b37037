"""How tests speak to the JSON API: as a person's program, with a token of the organization or of the account."""

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client

from organizations.services import create_token
from tests.conftest import Person


@dataclass(frozen=True)
class Api:
    """Addresses below `base`; each call is held to its expected end."""

    base: str
    token: str

    def get(self, path: str) -> Any:
        return self._fine("get", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self._fine("post", path, body)

    def put(self, path: str, body: Any = None) -> Any:
        return self._fine("put", path, body)

    def delete(self, path: str) -> Any:
        return self._fine("delete", path)

    def error(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and detail of a call that is refused."""
        answer = self.raw(method, path, body)
        assert answer.status_code >= 400, answer.content
        return answer.status_code, answer.json()["detail"]

    def raw(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The response as it is. `body`: bytes as they are, anything else as JSON."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        address = f"{self.base}/{path}" if path else self.base
        sent = {
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): text for name, text in headers.items()},
        }
        return Client().generic(method.upper(), address, data, content_type="application/json", headers=sent)

    def _fine(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.raw(method, path, body)
        assert answer.status_code == 200, (answer.status_code, answer.content)
        return answer.json()


def api_of(person: Person) -> Api:
    """The person's organization, by a token of it."""
    _, text = create_token(user=person.user, name=f"{person.user.name}'s program", organization=person.organization)
    return Api(f"/v0/orgs/{person.organization.pk.hex}", text)


def account_api_of(person: Person) -> Api:
    """The person's account, by an account-level token."""
    _, text = create_token(user=person.user, name=f"{person.user.name}'s account program")
    return Api("/v0/account", text)
