"""Fields that Django does not have."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """JSON whose objects keep the order of their keys: PostgreSQL's `json`, where `jsonb` sorts them.

    For what a person or a model wrote in an order: schemas, results, arguments. The database cannot compare it.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "json"

    def get_db_prep_value(
        self,
        value: Any,
        connection: BaseDatabaseWrapper,
        prepared: bool = False,
    ) -> Any:
        return value if value is None or hasattr(value, "resolve_expression") else Json(value)

    def from_db_value(
        self,
        value: Any,
        expression: Any,
        connection: BaseDatabaseWrapper,
    ) -> Any:
        """The driver has parsed `json` already."""
        return value
