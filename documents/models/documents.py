"""Documents, how many there are, the versions of their bytes, and pages."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper

from core.models import TenantModel, TrashableModel

_LIVE = models.Q(deleted_at__isnull=True)


def name_pieces(organization: models.F | models.Value, text: str | models.Value, *, sought: bool) -> models.Func:
    """The letters of a name and its pairs of letters; of a text that is sought within names: what these must have."""
    return models.Func(
        *(organization, Upper(text), models.Value(sought)),
        function="docrouter_pieces",
        output_field=ArrayField(models.IntegerField()),
    )


class Document(TrashableModel):
    """One uploaded file. Its id never changes; new bytes make a new version.

    `auto_create_status` repeats the newest `AutoCreate` for the lists; "none" without one. `tag_ids` repeats the ids of
    `tags` for searches: triggers keep it, an object in memory may be behind.
    `never_send`: no model outside this server is told of it; a tag with the same mark counts as well (`leaving`).
    """

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
    tag_ids = ArrayField(models.UUIDField(), default=list, db_default=[], editable=False)
    never_send = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=20, choices=State.choices, default=State.UPLOADED)
    phase = models.CharField(max_length=12, default="queued")
    auto_create_status = models.CharField(max_length=10, default="none")
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
            # And for each search: what a name begins with; tags and what a name contains; pairs of the metadata.
            models.Index(
                *("organization", OpClass(Upper("name"), "text_pattern_ops")), condition=_LIVE, name="document_by_start"
            ),
            GinIndex(
                OpClass("tag_ids", "array_ops"),
                OpClass(Upper("name"), "gin_trgm_ops"),
                name_pieces(models.F("organization"), "name", sought=False),
                condition=_LIVE,
                name="document_by_tags_and_letters",
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
    """One page that was read. `words` is columnar JSON: text, x0, y0, x1, y1, confidence, line, origin (equal lengths);
    `frames` in it are the boxes that lines draw around words, [x0, y0, x1, y1] each; `fields` have a name as well.

    `reads` counts how often it was read and stored: once, and once more for each time that the document was read again.
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
    reads = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="page_number_unique")]
