"""How tests speak to `/v1`: with a token of the organization, or one of the account and the header."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from organizations.services import create_token
from tests.conftest import Person


@dataclass(frozen=True)
class V1:
    """Each call is held to its expected end."""

    token: str
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str) -> Any:
        return self._fine(200, "get", path)

    def post(self, path: str, body: Any = None, *, status: int = 201, **headers: str) -> Any:
        return self._fine(status, "post", path, body, **headers)

    def delete(self, path: str) -> None:
        self._fine(204, "delete", path)

    def form(self, path: str, fields: dict[str, Any], *, status: int = 201, **headers: str) -> Any:
        answer = Client().post(address(path), fields, headers=self._headers(headers))
        assert answer.status_code == status, (answer.status_code, answer.content)
        return answer.json()

    def error(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        """Status and code of a call that is refused; the refusal has the form of `/v1`."""
        answer = self.raw(method, path, body, **headers)
        assert answer.status_code >= 400, answer.content
        said = answer.json()
        assert set(said) == {"error"}, said
        assert set(said["error"]) == {"code", "message", "details"}, said
        assert said["error"]["message"]
        return answer.status_code, said["error"]["code"]

    def raw(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The response as it is. `body`: bytes as they are, anything else as JSON."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = self._headers(headers)
        return Client().generic(method.upper(), address(path), data, content_type="application/json", headers=sent)

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        named = {name.replace("_", "-"): text for name, text in more.items()}
        return {"Authorization": f"Bearer {self.token}", **self.headers, **named}

    def _fine(self, status: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.raw(method, path, body, **headers)
        assert answer.status_code == status, (answer.status_code, answer.content)
        return answer.json() if answer.content else None


def address(path: str) -> str:
    """Below `/v1/`, unless it begins with a slash."""
    return path if path.startswith("/") else f"/v1/{path}"


def v1_of(person: Person) -> V1:
    """The person's organization, by a token of it."""
    _, text = create_token(user=person.user, name=f"{person.user.name}'s program", organization=person.organization)
    return V1(text)


def account_v1_of(person: Person) -> V1:
    """The person's organization, by a token of the account and the header that names it."""
    _, text = create_token(user=person.user, name=f"{person.user.name}'s account program")
    return V1(text, {"X-Organization-Id": person.organization.pk.hex})
