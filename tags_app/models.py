"""Tag: a label with a color."""

from django.db import models

from core.models import TrashableModel

DEFAULT_COLOR = "#3B82F6"


class Tag(TrashableModel):
    """Links documents and prompts: a document's tags decide which prompts run on it.

    `never_send`: no model outside this server is told of a document that has the tag.
    """

    name = models.CharField(max_length=200)
    color = models.CharField(max_length=32, default=DEFAULT_COLOR)
    description = models.TextField(null=True, blank=True)  # noqa: DJ001 - the wire contract tells null from ""
    never_send = models.BooleanField(default=False, db_default=False)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "name"], condition=models.Q(deleted_at__isnull=True), name="tag_name_unique"
            )
        ]
        indexes = [models.Index(fields=["organization", "-created_at"], name="tag_by_time")]

    def __str__(self) -> str:
        return self.name
