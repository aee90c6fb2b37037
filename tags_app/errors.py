"""What can go wrong with tags, in sentences for a person."""

from core.errors import Conflict, Invalid, NotFound


class TagNotFound(NotFound):
    code = "tag_not_found"
    detail = "Tag not found"


class TagInvalid(Invalid):
    code = "tag_invalid"
    detail = "This tag is not valid."


class TagNameTaken(Conflict):
    code = "tag_name_taken"
    status = 400
    detail = "A tag with this name already exists."


class TagInUse(Conflict):
    code = "tag_in_use"
    status = 400
    detail = "This tag is in use."


class TagChanged(Conflict):
    """Somebody changed the tag in the meantime; `extra` holds how it is now."""

    code = "tag_changed"
    detail = "The tag was changed in the meantime; nothing of this was saved."


class UnknownTags(Invalid):
    """A list of tag ids names something that is not a tag of this organization."""

    code = "invalid_tags"
    detail = "Invalid tag IDs"
