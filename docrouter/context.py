"""What the shell of every page needs: who, which organization, whether the offline model answers."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from llm.catalog import offline_is_default


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor of base.html. Costs no query: the actor was resolved by its middleware."""
    return {
        "actor": getattr(request, "actor", None),
        "organization": getattr(request, "organization", None),
        "offline_is_default": offline_is_default(),
        "demo_mode": settings.DEMO,
    }
