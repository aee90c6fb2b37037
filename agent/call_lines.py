"""One line about a call: what it is doing, what it did. A bold part (verb and object) and a quiet rest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.schema_table import fields_of

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """`lead` stands out, `rest` is quiet; both are plain text."""

    lead: str
    rest: str = ""


def doing_line(name: str, arguments: Json) -> Line:
    """What a call does right now."""
    verb = _DOING.get(name)
    return Line(verb, _object(arguments)) if verb else Line(plain_name(name))


def done_line(name: str, arguments: Json, result: Json) -> Line:
    """What a call that went well did."""
    make = _DONE.get(name)
    return make(arguments, result) if make else Line(plain_name(name), _object(arguments))


def failed_line(name: str, result: Json) -> Line:
    """What a call did not manage, with the reason."""
    reason = str(result.get("error") or "It did not work.")
    return Line(f"Could not {_WANTED.get(name, plain_name(name).lower())}", reason[:300])


def plain_name(name: str) -> str:
    """A tool's name as words: the tools are ours, but a model may have made one up."""
    return name.replace("_", " ").strip().capitalize()[:100] or "Call"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def quoted(name: object) -> str:
    text = str(name or "").strip()
    return f"“{text[:80]}”" if text else ""


def _object(arguments: Json) -> str:
    return quoted(arguments.get("name") or arguments.get("name_search") or arguments.get("path"))


def _named(verb: str, rest: Callable[[Json, Json], str] = lambda _a, _r: "") -> Callable[[Json, Json], Line]:
    def make(arguments: Json, result: Json) -> Line:
        name = quoted(result.get("name") or result.get("document_name") or arguments.get("name"))
        return Line(f"{verb} {name}".strip(), rest(arguments, result))

    return make


def _listed(verb: str, key: str, noun: str) -> Callable[[Json, Json], Line]:
    def make(arguments: Json, result: Json) -> Line:
        rows = result.get(key)
        total = result.get("total_count", len(rows) if isinstance(rows, list) else 0)
        found = f"{count(total, noun)} found" if isinstance(total, int) else ""
        return Line(verb, " ".join(filter(None, [_object(arguments), f"· {found}" if found else ""])))

    return make


def _read_text(arguments: Json, result: Json) -> Line:
    page = arguments.get("page_num")
    words = len(str(result.get("text") or "").split())
    return Line("Read the text", f"of page {page} · {count(words, 'word')}" if page else f"· {count(words, 'word')}")


def _checked(what: str) -> Callable[[Json, Json], Line]:
    def make(_arguments: Json, result: Json) -> Line:
        if result.get("valid"):
            return Line(f"Checked the {what}", "· valid")
        problem = str(result.get("error") or "")[:200]
        return Line(f"Checked the {what}", f"· not valid yet{': ' + problem if problem else ''}")

    return make


def _schema_rest(arguments: Json, result: Json) -> str:
    fields = len(fields_of(arguments.get("response_format")))
    version = result.get("schema_version") or result.get("version")
    parts = [f"with {count(fields, 'field')}" if fields else "", f"· version {version}" if version else ""]
    return " ".join(filter(None, [*parts, _message(arguments, result)]))


def _message(_arguments: Json, result: Json) -> str:
    """What the tool wants to say: a new version of an existing name, nothing changed."""
    text = result.get("warning") or result.get("message") or ""
    return f"· {str(text)[:160]}" if result.get("new_version") or "No changes" in str(text) else ""


def _extracted(_arguments: Json, result: Json) -> Line:
    data = result.get("extraction")
    if not isinstance(data, dict):
        return Line("Ran the extraction")
    filled = sum(1 for value in data.values() if value not in ("", 0, False, None, [], {}))
    return Line("Ran the extraction", f"· {filled} of {count(len(data), 'field')} found here")


def _set_field(arguments: Json, _result: Json) -> Line:
    return Line(f"Set {str(arguments.get('path', ''))[:80]}", f"to {str(arguments.get('value', ''))[:80]}")


_DONE: dict[str, Callable[[Json, Json], Line]] = {
    "get_ocr_text": _read_text,
    "get_extraction_result": lambda _a, _r: Line("Looked at the extraction"),
    "list_documents": _listed("Looked through documents", "documents", "document"),
    "list_schemas": _listed("Looked through schemas", "schemas", "schema"),
    "list_prompts": _listed("Looked through prompts", "prompts", "prompt"),
    "list_tags": _listed("Looked through tags", "tags", "tag"),
    "list_llm_models": _listed("Looked which models there are", "models", "model"),
    "get_schema": _named("Looked at schema"),
    "get_prompt": _named("Looked at prompt"),
    "get_tag": _named("Looked at tag"),
    "validate_schema": _checked("schema"),
    "validate_against_schema": _checked("values"),
    "help_schemas": lambda _a, _r: Line("Read how schemas work"),
    "help_prompts": lambda _a, _r: Line("Read how prompts work"),
    "run_extraction": _extracted,
    "update_extraction_field": _set_field,
    "create_schema": _named("Created schema", _schema_rest),
    "update_schema": _named("Changed schema", _schema_rest),
    "delete_schema": _named("Deleted schema"),
    "create_prompt": _named("Created prompt", _message),
    "update_prompt": _named("Changed prompt", _message),
    "delete_prompt": _named("Deleted prompt"),
    "create_tag": _named("Created tag"),
    "update_tag": _named("Changed tag", _message),
    "delete_tag": _named("Deleted tag"),
    "update_document": _named("Changed document"),
    "delete_document": lambda _a, _r: Line("Deleted this document"),
}
_DOING: dict[str, str] = {
    "get_ocr_text": "Reading the text",
    "validate_schema": "Checking the schema",
    "run_extraction": "Running the extraction",
    "update_extraction_field": "Setting a field",
    "create_schema": "Creating schema",
    "update_schema": "Changing the schema",
    "create_prompt": "Creating prompt",
    "update_prompt": "Changing the prompt",
    "list_schemas": "Looking through schemas",
    "list_prompts": "Looking through prompts",
    "list_documents": "Looking through documents",
}
_WANTED: dict[str, str] = {
    "get_ocr_text": "read the text",
    "run_extraction": "run the extraction",
    "update_extraction_field": "set the field",
    "validate_schema": "check the schema",
    "get_extraction_result": "look at the extraction",
}
