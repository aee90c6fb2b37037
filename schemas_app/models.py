"""Schema and its immutable revisions."""

from django.db import models
from django.db.models.functions import Lower

from core.fields import OrderedJSONField
from core.models import TenantModel, TrashableModel


class Schema(TrashableModel):
    """The stable thing (`schema_id`): a name and a counter of revisions. Names are compared without case.

    `made_by_run` is the propose run that made it unasked; `pending_review` until a person accepts the proposal.
    """

    name = models.CharField(max_length=200)
    latest_version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    made_by_run = models.UUIDField(null=True, blank=True, editable=False)
    pending_review = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "organization",
                Lower("name"),
                condition=models.Q(deleted_at__isnull=True),
                name="schema_name_unique",
            )
        ]
        indexes = [
            models.Index(fields=["organization", "-updated_at"], name="schema_by_time"),
            models.Index(fields=["made_by_run"], condition=models.Q(made_by_run__isnull=False), name="schema_by_run"),
        ]

    def __str__(self) -> str:
        return self.name


class SchemaRevision(TenantModel):
    """One version (`schema_revid`). A database trigger refuses every change and any delete but the purge's."""

    schema = models.ForeignKey(Schema, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    response_format = OrderedJSONField()
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["schema", "version"], name="schema_version_unique")]
        indexes = [models.Index(fields=["organization", "-created_at"], name="schemarev_by_time")]

    def __str__(self) -> str:
        return f"{self.schema.name} v{self.version}"
