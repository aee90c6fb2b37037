"""Runs, and the append-only log of a document."""

from django.db import models

from core.models import BaseModel, TenantModel
from documents.models.documents import Document, DocumentVersion


class Run(TenantModel):
    """One processing execution of a document. `epoch` fences out a runner that lost its lease.

    A read makes the runs of the document's prompts once: then its `prompts_queued_at` is set, and theirs is
    `caused_by` it. Runs without `caused_by` were started by hand. `ocr_only` is a read that makes none.
    `pool` names the workers that it waits for, "" when it is worked on where it was begun; `admitted_at` is when its
    turn came (admission.py). `requested_by` asked for it by hand; without, whoever uploaded the document answers.
    """

    class Kind(models.TextChoices):
        PARSE = "parse"
        EXTRACT = "extract"
        PROPOSE = "propose"

    class Phase(models.TextChoices):
        QUEUED = "queued"
        PARSING = "parsing"
        INDEXING = "indexing"
        EXTRACTING = "extracting"
        PROPOSING = "proposing"
        COMPLETE = "complete"
        ERROR = "error"
        CANCELLED = "cancelled"

    ENDED = ("complete", "error", "cancelled")

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="runs")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.PARSE)
    phase = models.CharField(max_length=12, choices=Phase.choices, default=Phase.QUEUED)
    prompt_revision = models.ForeignKey(
        "prompts_app.PromptRevision", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    caused_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="caused")
    pool = models.CharField(max_length=10, blank=True)
    admitted_at = models.DateTimeField(null=True, blank=True)
    requested_by = models.ForeignKey(
        "organizations.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    requested_by_name = models.CharField(max_length=200, blank=True)
    ocr_only = models.BooleanField(default=False)
    prompts_queued_at = models.DateTimeField(null=True, blank=True)
    pages_done = models.PositiveIntegerField(default=0)
    pages_total = models.PositiveIntegerField(null=True, blank=True)
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    retryable = models.BooleanField(default=False)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["document"],
                condition=models.Q(kind="parse") & ~models.Q(phase__in=["complete", "error", "cancelled"]),
                name="run_one_active_parse",
            ),
            models.UniqueConstraint(
                fields=["document", "prompt_revision"],
                condition=models.Q(kind="extract") & ~models.Q(phase__in=["complete", "error", "cancelled"]),
                nulls_distinct=False,
                name="run_one_active_extract",
            ),
            models.UniqueConstraint(
                fields=["document"],
                condition=models.Q(kind="propose") & ~models.Q(phase__in=["complete", "error", "cancelled"]),
                name="run_one_active_propose",
            ),
        ]
        indexes = [
            models.Index(fields=["document", "-created_at"], name="run_by_document"),
            models.Index(
                fields=["lease_until"],
                condition=~models.Q(phase__in=["complete", "error", "cancelled"]),
                name="run_active_by_lease",
            ),
            models.Index(
                fields=["pool", "organization", "created_at", "id"],
                condition=models.Q(admitted_at__isnull=True) & ~models.Q(phase__in=["complete", "error", "cancelled"]),
                name="run_waiting",
            ),
            models.Index(
                fields=["pool", "organization"],
                condition=models.Q(admitted_at__isnull=False) & ~models.Q(phase__in=["complete", "error", "cancelled"]),
                name="run_in_flight",
            ),
            models.Index(
                fields=["completed_at"],
                condition=models.Q(kind="parse", phase="complete", ocr_only=False, prompts_queued_at__isnull=True),
                name="run_read_without_prompts",
            ),
        ]


class Admission(models.Model):
    """When runs of an organization were last handed to a pool of workers: whose turn is next."""

    organization = models.ForeignKey("organizations.Organization", on_delete=models.CASCADE, related_name="+")
    pool = models.CharField(max_length=10)
    last_picked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "pool"], name="admission_unique")]

    def __str__(self) -> str:
        return f"{self.pool}: {self.organization_id}"


class EventHead(models.Model):
    """The last sequence number of a document's log: locked last, in one place, so that `seq` has no gaps."""

    document = models.OneToOneField(Document, primary_key=True, on_delete=models.CASCADE, related_name="event_head")
    last_seq = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.document_id}: {self.last_seq}"


class Event(BaseModel):
    """One row of a document's append-only log."""

    organization = models.ForeignKey("organizations.Organization", on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="events")
    seq = models.BigIntegerField()
    type = models.CharField(max_length=60)
    run_id = models.UUIDField(null=True, blank=True)
    turn_id = models.UUIDField(null=True, blank=True)
    actor = models.JSONField(null=True, blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "seq"], name="event_seq_unique")]
