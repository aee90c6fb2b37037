"""A tag as plain data: the shape that tools, mentions and the API show."""

from typing import Any

from core.ids import show_id
from tags_app.models import Tag


def show_tag(tag: Tag) -> dict[str, Any]:
    """Shape: id, name, color, description, created_at, created_by."""
    return {
        "id": show_id(tag.pk),
        "name": tag.name,
        "color": tag.color,
        "description": tag.description,
        "created_at": tag.created_at.isoformat().replace("+00:00", "Z"),
        "created_by": show_id(tag.created_by_id) if tag.created_by_id else None,
    }
