"""Does a schema that exists fit a document? Measured: the share of its fields that the offline engine finds there.

And is there a prompt for it already?
"""

from django.conf import settings

from documents.selectors import document_content, get_document
from llm.offline.extract.reading import Reading
from llm.offline.extract.schema import inner_schema, properties_of
from llm.offline.propose.proposal import share_found
from organizations.actor import Actor
from prompts_app.models import PromptRevision
from prompts_app.selectors import prompts_of_schema
from schemas_app.models import SchemaRevision
from schemas_app.selectors import latest_revisions

_LOOKED_AT = 50
_FEWEST_FIELDS = 3


def fitting_schema(*, actor: Actor, document_id: object) -> SchemaRevision | None:
    """The schema of the organization that fits best, if one fits well enough. No model is asked.

    Only schemas of three fields and more, the latest fifty, none that waits for a review.
    Raises: DocumentNotFound, TextNotReady.
    """
    rows = latest_revisions(actor=actor).filter(schema__pending_review=False)
    candidates = [row for row in rows.order_by("-created_at", "-id")[:_LOOKED_AT] if _size(row) >= _FEWEST_FIELDS]
    if not candidates:
        return None
    reading = Reading(document_content(actor=actor, document_id=document_id))
    shares = [(share_found(row.response_format, reading), row) for row in candidates]
    share, best = max(shares, key=lambda pair: (pair[0], _size(pair[1])))
    return best if share >= settings.AUTO_CREATE_REUSE_SHARE else None


def fitting_prompt(*, actor: Actor, document_id: object, schema: SchemaRevision) -> PromptRevision | None:
    """The newest prompt whose latest version uses exactly this version of a schema, and gives models the text.

    Not one that waits for a review, nor one of the document's tags: that runs by itself. Raises: DocumentNotFound.
    """
    tags = get_document(actor=actor, document_id=document_id).tags.all()
    rows = prompts_of_schema(actor=actor, schema_id=schema.schema_id).filter(
        schema_revision=schema, prompt__pending_review=False, include__ocr_text=True
    )
    return rows.exclude(tags__in=tags).order_by("-created_at", "-id").first()


def _size(row: SchemaRevision) -> int:
    return len(properties_of(inner_schema(row.response_format)))
