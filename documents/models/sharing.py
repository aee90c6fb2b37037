"""What of a document is shown to people without an account: links to share, and publications."""

from django.db import models
from django.utils import timezone

from core.fields import OrderedJSONField
from core.models import TenantModel
from documents.models.documents import Document, DocumentVersion
from documents.models.extractions import Extraction


class ShareLink(TenantModel):
    """A link that opens one version of one document, and one result of it as it stands with all its edits.

    `token_digest` is the SHA-256 of 256 random bits; the token itself is kept nowhere. `redact` holds paths ("iban",
    "lines.*.total"). `masks` remembers which words of which pages are blacked out, and `masks_stamp` what that was
    worked out from. With `fields_only` no page is shown at all; `fields_only_reason` says why.
    """

    class Role(models.TextChoices):
        VIEW = "view"
        ASK = "ask"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="share_links")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="+")
    extraction = models.ForeignKey(Extraction, null=True, on_delete=models.SET_NULL, related_name="+")
    role = models.CharField(max_length=4, choices=Role.choices)
    token_digest = models.CharField(max_length=64)
    password_hash = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    max_views = models.PositiveIntegerField(null=True, blank=True)
    views = models.PositiveIntegerField(default=0)
    last_viewed_at = models.DateTimeField(null=True, blank=True)
    redact = models.JSONField(default=list)
    fields_only = models.BooleanField(default=False)
    fields_only_reason = models.CharField(max_length=500, blank=True)
    masks = models.JSONField(default=dict)
    masks_stamp = models.CharField(max_length=64, blank=True)
    answers = models.PositiveIntegerField(default=0)
    max_answers = models.PositiveIntegerField()
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    max_cost_usd = models.DecimalField(max_digits=14, decimal_places=8)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=["view", "ask"]), name="share_role_known"),
            models.CheckConstraint(
                condition=models.Q(max_views__isnull=True) | models.Q(views__lte=models.F("max_views")),
                name="share_views_within",
            ),
            models.CheckConstraint(
                condition=models.Q(answers__lte=models.F("max_answers")), name="share_answers_within"
            ),
        ]
        indexes = [models.Index(fields=["document", "-created_at"], name="share_by_document")]

    @property
    def is_used_up(self) -> bool:
        return self.max_views is not None and self.views >= self.max_views

    @property
    def has_ended(self) -> bool:
        """Whether nobody can open it any more."""
        expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return self.revoked_at is not None or expired or self.is_used_up


class Publication(TenantModel):
    """A result as it was when somebody published it. The database lets nothing change but that it is withdrawn.

    `number` counts the publications of a document. `slug` is the unguessable part of the address. `payload` is what
    is shown: name, values, grounding, pages (only with `with_pages`: then the pictures of `version` are shown too).
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="publications")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="+")
    extraction = models.ForeignKey(Extraction, null=True, on_delete=models.SET_NULL, related_name="+")
    number = models.PositiveIntegerField()
    slug = models.CharField(max_length=43, unique=True)
    payload = OrderedJSONField()
    with_pages = models.BooleanField(default=False)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_name = models.CharField(max_length=200)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="publication_number_unique"),
        ]
