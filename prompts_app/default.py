"""The built-in prompt: no row, the same for everybody, known by the id "default"."""

from typing import Any

from llm.seeds import CLIENTS_MODEL

DEFAULT_PROMPT_ID = "default"
DEFAULT_PROMPT_NAME = "Document Summary"
DEFAULT_PROMPT_VERSION = 1

DEFAULT_CONTENT = (
    "Read the document and answer with a JSON object of three texts: document_type (what kind of document it is), "
    "document_date (its own date as YYYY-MM-DD), summary (two or three sentences on what it says). "
    'Use "" for what is not in the document.'
)
DEFAULT_RESPONSE_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "document_summary",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "document_type": {"type": "string", "description": "What kind of document it is"},
                "document_date": {"type": "string", "description": "The document's own date, YYYY-MM-DD"},
                "summary": {"type": "string", "description": "Two or three sentences on what the document says"},
            },
            "required": ["document_type", "document_date", "summary"],
            "additionalProperties": False,
        },
    },
}


def show_default_prompt() -> dict[str, Any]:
    """The built-in prompt in the shape of a revision."""
    return {
        "prompt_revid": DEFAULT_PROMPT_ID,
        "prompt_id": DEFAULT_PROMPT_ID,
        "prompt_version": DEFAULT_PROMPT_VERSION,
        "name": DEFAULT_PROMPT_NAME,
        "content": DEFAULT_CONTENT,
        "schema_id": None,
        "schema_version": None,
        "tag_ids": [],
        "model": CLIENTS_MODEL,
        "kb_id": None,
        "peer_match_keys": [],
        "include": {"ocr_text": True, "metadata_keys": [], "pdf": True},
        "created_at": None,
        "created_by": None,
    }
