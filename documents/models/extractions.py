"""Results of prompts, and what people changed in them."""

from django.db import models

from core.fields import OrderedJSONField
from core.models import TenantModel
from documents.models.documents import Document, DocumentVersion
from documents.models.runs import Run


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
