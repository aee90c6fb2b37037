"""Documents: versions of their bytes, pages, runs, events, extractions."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper

from core.fields import OrderedJSONField
from core.models import BaseModel, TenantModel, TrashableModel

_LIVE = models.Q(deleted_at__isnull=True)


class Document(TrashableModel):
    """One uploaded file. Its id never changes; new bytes make a new version."""

    class State(models.TextChoices):
        UPLOADED = "uploaded"
        OCR_PROCESSING = "ocr_processing"
        OCR_COMPLETED = "ocr_completed"
        OCR_FAILED = "ocr_failed"
        LLM_PROCESSING = "llm_processing"
        LLM_COMPLETED = "llm_completed"
        LLM_FAILED = "llm_failed"

    name = models.CharField(max_length=255)
    uploaded_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    uploaded_by_name = models.CharField(max_length=200)
    metadata = models.JSONField(default=dict)
    tags = models.ManyToManyField("tags_app.Tag", blank=True, related_name="documents")
    state = models.CharField(max_length=20, choices=State.choices, default=State.UPLOADED)
    phase = models.CharField(max_length=12, default="queued")
    current_version = models.ForeignKey(
        "documents.DocumentVersion", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            # One for each order that a list can have, read forwards or backwards.
            models.Index(fields=["organization", "-created_at", "-id"], condition=_LIVE, name="document_by_time"),
            models.Index(
                fields=["organization", "state", "created_at", "id"], condition=_LIVE, name="document_by_state"
            ),
            models.Index("organization", Upper("name"), "created_at", "id", condition=_LIVE, name="document_by_name"),
            models.Index(
                *("organization", Upper("uploaded_by_name"), "created_at", "id"),
                condition=_LIVE,
                name="document_by_uploader",
            ),
            # And one for each search: what a name begins with, contains, and pairs of the metadata.
            models.Index(
                *("organization", OpClass(Upper("name"), "text_pattern_ops")), condition=_LIVE, name="document_by_start"
            ),
            GinIndex(
                OpClass(Upper("name"), "gin_trgm_ops"),
                condition=_LIVE,
                name="document_by_letters",
                gin_pending_list_limit=256,
            ),
            GinIndex(
                fields=["metadata"],
                opclasses=["jsonb_path_ops"],
                condition=_LIVE,
                name="document_by_metadata",
                gin_pending_list_limit=256,
            ),
        ]

    def __str__(self) -> str:
        return self.name


class DocumentTally(models.Model):
    """How many documents an organization has outside the trash: the sum of its rows. Kept by database triggers only.

    A writer takes any row that no other transaction holds, else makes a new one: uploads never wait for each other.
    """

    organization_id = models.UUIDField()
    documents = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["organization_id"], name="tally_by_organization")]

    def __str__(self) -> str:
        return f"{self.organization_id}: {self.documents}"


class DocumentVersion(TenantModel):
    """The bytes of a document at one time. `pdf_key` is the rendition that is shown; equals `file_key` for PDFs.

    Units: `size_bytes`; `page_count` is None until the file was opened.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    file_name = models.CharField(max_length=255)
    file_key = models.CharField(max_length=300)
    pdf_key = models.CharField(max_length=300, blank=True)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    mime_type = models.CharField(max_length=100)
    page_count = models.PositiveIntegerField(null=True, blank=True)
    notes = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="version_number_unique")]
        indexes = [models.Index(fields=["organization", "sha256"], name="version_by_sha256")]


class Page(TenantModel):
    """One page that was read. `words` is columnar JSON: text, x0, y0, x1, y1, confidence, line, origin (equal lengths).

    Units: boxes are fractions of the page as displayed, origin top left; width and height in points.
    """

    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()
    width = models.FloatField()
    height = models.FloatField()
    rotation = models.PositiveSmallIntegerField(default=0)
    source = models.CharField(max_length=10)
    text = models.TextField(blank=True)
    words = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="page_number_unique")]


class Run(TenantModel):
    """One processing execution of a document. `epoch` fences out a runner that lost its lease.

    A read makes the runs of the document's prompts once: then its `prompts_queued_at` is set, and theirs is
    `caused_by` it. Runs without `caused_by` were started by hand. `ocr_only` is a read that makes none.
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
                fields=["completed_at"],
                condition=models.Q(kind="parse", phase="complete", ocr_only=False, prompts_queued_at__isnull=True),
                name="run_read_without_prompts",
            ),
        ]


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


class Extraction(TenantModel):
    """The result of one prompt revision on one document version. `llm_result` never changes; edits are rows.

    `prompt_revision` None is the built-in default prompt. `grounding` maps a path ("lines.0.total") to
    {state, page, boxes, quote}. The newest row that nothing supersedes and nobody withdrew is the current one.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="extractions")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="extractions")
    prompt_revision = models.ForeignKey(
        "prompts_app.PromptRevision", null=True, blank=True, on_delete=models.PROTECT, related_name="extractions"
    )
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="extractions")
    llm_result = OrderedJSONField()
    updated_llm_result = OrderedJSONField()
    is_edited = models.BooleanField(default=False)
    is_verified = models.BooleanField(default=False)
    edit_version = models.PositiveIntegerField(default=0)
    grounding = OrderedJSONField(default=dict)
    validation_errors = models.JSONField(default=list)
    model_requested = models.CharField(max_length=200, blank=True)
    model_used = models.CharField(max_length=200, blank=True)
    usage = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    superseded_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["document", "prompt_revision", "-created_at"], name="extraction_by_prompt")]


class ExtractionEdit(TenantModel):
    """One change by a person or the agent: which path, from what, to what."""

    extraction = models.ForeignKey(Extraction, on_delete=models.CASCADE, related_name="edits")
    user = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=200)
    via = models.CharField(max_length=10)
    path = models.CharField(max_length=500)
    value_from = OrderedJSONField(null=True)
    value_to = OrderedJSONField(null=True)

    class Meta:
        indexes = [models.Index(fields=["extraction", "created_at"], name="edit_by_extraction")]
