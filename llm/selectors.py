"""Reading the rows of providers."""

from llm.models import Provider


def provider_rows() -> list[Provider]:
    """All rows, for whoever may see keys: sealed ones are in them. No actor: the rows are of the deployment."""
    return list(Provider.objects.order_by("name"))
