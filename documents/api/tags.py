"""One tag over JSON, with the delete that looks at what uses it."""

from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from documents.tagging import delete_tag
from tags_app.api.views import TagView


class DeletableTagView(TagView):
    """One tag."""

    @operation("delete_tag", "Delete a tag that nothing uses", tag="Tags", answer=Message, errors=(400, 404))
    def delete(self, request: Request, tag_id: str) -> Message:
        delete_tag(actor=self.actor, tag_id=tag_id)
        return Message(message="Tag deleted successfully")
