"""Providers of models as an administrator configured them. Deployment-wide: no organization has its own."""

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
