"""A JSON column that keeps the order of keys, which `jsonb` does not: fields stand in their author's order."""

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """PostgreSQL's `json`: stored as it came, read as it was. It cannot be compared or indexed by the database."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:  # noqa: ARG002 - Django's signature
        return "json"

    def get_db_prep_value(
        self,
        value: Any,
        connection: BaseDatabaseWrapper,  # noqa: ARG002 - Django's signature
        prepared: bool = False,  # noqa: ARG002 - Django's signature
    ) -> Any:
        return None if value is None else Json(value)

    def from_db_value(
        self,
        value: Any,
        expression: Any,  # noqa: ARG002 - Django's signature
        connection: BaseDatabaseWrapper,  # noqa: ARG002 - Django's signature
    ) -> Any:
        return json.loads(value) if isinstance(value, str) else value
