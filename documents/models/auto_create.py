"""Proposals that the agent made by itself on upload, and what people decided about them."""

from django.db import models

from core.models import TenantModel
from documents.models.documents import Document
from documents.models.extractions import Extraction
from documents.models.runs import Run


class AutoCreate(TenantModel):
    """One attempt to set up a document unasked. The newest row of a document is the current one.

    `run` is the propose run that does the work; whatever that made carries its id in `made_by_run`. `thread_id` and
    `turn_id` lead to the agent's log. `schema_revision` is one that was there before when `reused_schema`; so may
    `prompt_revision` be, which then stands here from the begin of the work.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        PROPOSED = "proposed"
        ACCEPTED = "accepted"
        REJECTED = "rejected"
        FAILED = "failed"

    OPEN = ("pending", "running", "proposed")

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="auto_creates")
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="auto_create")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    requested_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    requested_by_name = models.CharField(max_length=200)
    thread_id = models.UUIDField(null=True, blank=True)
    turn_id = models.UUIDField(null=True, blank=True)
    schema_revision = models.ForeignKey(
        "schemas_app.SchemaRevision", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    prompt_revision = models.ForeignKey(
        "prompts_app.PromptRevision", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    extraction = models.ForeignKey(Extraction, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    reused_schema = models.BooleanField(default=False)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    retryable = models.BooleanField(default=False)
    proposed_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    decided_by_name = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["pending", "running", "proposed", "accepted", "rejected", "failed"]),
                name="auto_create_status_known",
            ),
            models.UniqueConstraint(
                fields=["document"],
                condition=models.Q(status__in=["pending", "running", "proposed"]),
                name="auto_create_one_open",
            ),
        ]
        indexes = [
            models.Index(fields=["document", "-created_at"], name="auto_create_by_document"),
            models.Index(
                fields=["organization", "proposed_at"],
                condition=models.Q(status="proposed"),
                name="auto_create_waiting",
            ),
        ]

    @property
    def reused_prompt(self) -> bool:
        """Whether what is proposed is a prompt that was there before."""
        return self.prompt_revision is not None and self.prompt_revision.prompt.made_by_run != self.run_id
