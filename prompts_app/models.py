"""Prompt and its immutable revisions."""

from typing import Any

from django.db import models

from core.models import TenantModel, TrashableModel


def default_include() -> dict[str, Any]:
    """What of a document goes to the model with the prompt."""
    return {"ocr_text": True, "metadata_keys": [], "pdf": True}


class Prompt(TrashableModel):
    """The stable thing (`prompt_id`): a name and a counter of revisions. Names are compared with case.

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
                fields=["organization", "name"], condition=models.Q(deleted_at__isnull=True), name="prompt_name_unique"
            )
        ]
        indexes = [
            models.Index(fields=["organization", "-updated_at"], name="prompt_by_time"),
            models.Index(fields=["made_by_run"], condition=models.Q(made_by_run__isnull=False), name="prompt_by_run"),
        ]

    def __str__(self) -> str:
        return self.name


class PromptRevision(TenantModel):
    """One version (`prompt_revid`): text, pinned schema revision, model, tags. Immutable by a database trigger."""

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    content = models.TextField()
    schema_revision = models.ForeignKey(
        "schemas_app.SchemaRevision", null=True, blank=True, on_delete=models.PROTECT, related_name="prompt_revisions"
    )
    model = models.CharField(max_length=200)
    tags = models.ManyToManyField("tags_app.Tag", blank=True, related_name="prompt_revisions")
    include = models.JSONField(default=default_include)
    peer_match_keys = models.JSONField(default=list)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["prompt", "version"], name="prompt_version_unique")]
        indexes = [models.Index(fields=["organization", "-created_at"], name="promptrev_by_time")]

    def __str__(self) -> str:
        return f"{self.prompt.name} v{self.version}"
