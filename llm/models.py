"""Providers of models as an administrator configured them, deployment-wide; and what plain calls of models cost."""

from django.db import models

from core.models import BaseModel


class Provider(BaseModel):
    """What an administrator decided about a provider; without a row the environment decides.

    `sealed_token` is None while the environment's key counts, empty when there is to be none. An empty `api_base`
    is the environment's.
    """

    name = models.CharField(max_length=40, unique=True)
    display_name = models.CharField(max_length=100)
    litellm_provider = models.CharField(max_length=40)
    models_enabled = models.JSONField(default=list)
    models_chat_agent = models.JSONField(default=list)
    enabled = models.BooleanField(default=False)
    sealed_token = models.BinaryField(null=True)
    token_created_at = models.DateTimeField(null=True, blank=True)
    api_base = models.CharField(max_length=500, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name


class PlainCall(BaseModel):
    """A call of a model without a document: who, which, and what it used. Never what was said.

    Other calls keep this beside their answers. Units: `cost_usd` in US dollars, None where it is not known.
    """

    class Kind(models.TextChoices):
        CHAT = "chat"
        EMBEDDING = "embedding"

    organization = models.ForeignKey(
        "organizations.Organization", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    user = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    model = models.CharField(max_length=200)
    usage = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
