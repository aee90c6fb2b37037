"""What the shell of every page needs: who, which organization, whether the offline model answers."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from docrouter.demo import EMAIL, demo_password
from llm.catalog import offline_is_default


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor of base.html. Costs no query: the actor was resolved by its middleware."""
    return {
        "actor": getattr(request, "actor", None),
        "organization": getattr(request, "organization", None),
        "offline_is_default": offline_is_default(),
        "demo": _demo(request),
    }


def _demo(request: HttpRequest) -> dict[str, str] | None:
    """What to sign in with, shown to nobody but a visitor of the demo (which is refused beyond loopback)."""
    user = getattr(request, "user", None)
    if not settings.DEMO or (user is not None and user.is_authenticated):
        return None
    return {"email": EMAIL, "password": demo_password()}
