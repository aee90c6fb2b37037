"""What only tools refuse, in sentences that a model can act on."""

from core.errors import Forbidden, Invalid


class OtherDocument(Forbidden):
    code = "other_document"
    detail = "Only the document of this conversation can be deleted from here."


class NothingGiven(Invalid):
    code = "nothing_to_update"
    detail = "Say what to change: give document_name, tag_ids or metadata."
