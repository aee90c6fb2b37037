"""Tags as the wire has them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from core.api.bodies import Answer, Body
from core.ids import show_id
from tags_app.models import Tag

NEVER_SEND = "No model outside this server is told of a document that has the tag"


class TagBody(Body):
    """What a tag is made of. Without a color it gets the default one (or keeps its own); so with `never_send`."""

    name: str
    color: str | None = None
    description: str | None = None
    never_send: Annotated[bool | None, Field(description=NEVER_SEND)] = None


class TagAnswer(Answer):
    id: str
    name: str
    color: str
    description: str | None
    never_send: Annotated[bool, Field(description=NEVER_SEND)]
    created_at: datetime
    created_by: str

    @classmethod
    def of(cls, tag: Tag) -> "TagAnswer":
        """The row as an answer."""
        return cls(
            id=show_id(tag.pk),
            name=tag.name,
            color=tag.color,
            description=tag.description,
            never_send=tag.never_send,
            created_at=tag.created_at,
            created_by=show_id(tag.created_by_id) if tag.created_by_id else "",
        )


class TagsAnswer(Answer):
    tags: list[TagAnswer]
    total_count: int
    skip: int
