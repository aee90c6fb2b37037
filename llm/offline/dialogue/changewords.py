"""The words for changes to a schema: add, remove, rename, retype."""

import re
from dataclasses import dataclass
from typing import Literal

TYPE_WORDS = {
    "integer": "integer",
    "whole number": "integer",
    "int": "integer",
    "number": "number",
    "decimal": "number",
    "amount": "number",
    "float": "number",
    "string": "string",
    "text": "string",
    "boolean": "boolean",
    "bool": "boolean",
    "yes/no": "boolean",
    "true/false": "boolean",
    "checkbox": "boolean",
    "date": "date",
}
TYPES = "|".join(sorted(map(re.escape, TYPE_WORDS), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a schema's fields. `name` and `to` as the person wrote them."""

    act: Literal["add", "remove", "rename", "retype", "require"]
    name: str
    to: str = ""
    column: bool = False


_RENAME = re.compile(r"rename (?:the )?(?:field |column )?(.+?) (?:to|as|into|->) (.+)", re.I)
_CALL = re.compile(
    r"call (?:the )?(?:field |column )?(.+?) (?:instead )?(?:as )?[\"']?([\w ]+?)[\"']?(?: instead)?$", re.I
)
_RETYPE = re.compile(
    r"(?:make|change|turn|convert|set)? ?(?:the )?(?:type of )?(?:the )?(.+?) "
    r"(?:(?:to|into|as|should be|must be|be) )?(?:an? )?(?:of )?(?:type )?"
    rf"({TYPES})(?: field| type| value)?$",
    re.I,
)
_REMOVE = re.compile(
    r"(?:remove|drop|delete|leave out|skip|omit|get rid of|take out|without|no|"
    r"(?:i |we )?(?:don't|do not) (?:need|want|extract)) (.+)",
    re.I,
)
_ADD = re.compile(
    r"(?:add|include|insert|also extract|extract also|append|create a field|capture|extract|"
    r"(?:i|we)(?: also)? (?:need|want)|(?:there is |you )?(?:missing|forgot))(?: also| too)? (.+)",
    re.I,
)
_MISSING = re.compile(r"(?:the )?(.+?) (?:is|are) missing$", re.I)
_TOO = re.compile(r"\b(?:as well|too|also|to (?:the |this )?schema|please|is missing)\b", re.I)
_ROWS = re.compile(
    r"\b(?:to|in|for|on) (?:each|every|the|all)? ?(?:of the )?(?:lines?|rows?|items?|line[_ ]items|table)\b", re.I
)
_AS_TYPE = re.compile(rf"\(?(?:\bas(?: an?)?|\bof type|\btype|\() ?({TYPES})\)?$", re.I)
_LEAD = re.compile(
    r"^(?:an? |the |another |new |two |some )*(?:new |extra )?(?:fields?|columns?|property|properties)?"
    r"(?: (?:for|called|named|with|like|of))?:? ",
    re.I,
)


def unquoted(text: str) -> str:
    """Without the quotes that a person puts around names."""
    return text.strip().strip("\"'“”‘’`").strip()


def field_name(text: str) -> str:
    """A field as the person names it, without articles."""
    text = re.sub(r"^(?:and |an? |the |its |new |fields? |columns? )+", "", unquoted(text), flags=re.I)
    return re.sub(r"\s+(?:fields?|columns?)$", "", text, flags=re.I).strip(" .?\"'`")


def read_changes(text: str) -> list[Change]:
    """The changes that one clause asks for."""
    for reader in (_rename, _retype, _remove, _add):
        found = reader(text)
        if found:
            return found
    return []


def _rename(text: str) -> list[Change]:
    match = _RENAME.match(text) or _CALL.match(text)
    if not match or unquoted(match[1]).lower() in {"it", "the schema", "schema", "this"}:
        return []
    return [Change("rename", field_name(match[1]), unquoted(match[2]))]


def _retype(text: str) -> list[Change]:
    match = _RETYPE.match(text)
    if match and re.match(r"(?:make|change|turn|convert|set)\b|.*\b(?:should|must) be\b", text, re.I):
        return [Change("retype", field_name(match[1]), TYPE_WORDS[match[2].lower()])]
    match = re.match(r"make (?:the )?(.+?) (required|mandatory|optional)$", text, re.I)
    return [Change("require", field_name(match[1]), match[2].lower())] if match else []


def _remove(text: str) -> list[Change]:
    match = _REMOVE.match(text)
    return [Change("remove", name) for name in _listed(match[1])] if match else []


def _add(text: str) -> list[Change]:
    match = _ADD.match(text) or _MISSING.match(text)
    if not match:
        return []
    rest = _TOO.sub("", match[1]).strip()
    column = bool(re.search(r"\bcolumns?\b", rest, re.I) or _ROWS.search(rest))
    rest = _ROWS.sub("", rest).strip()
    kind = _AS_TYPE.search(rest)
    if kind:
        rest = rest[: kind.start()].strip(" (")
    return [Change("add", name, TYPE_WORDS[kind[1].lower()] if kind else "", column) for name in _listed(rest)]


def _listed(text: str) -> list[str]:
    text = _LEAD.sub("", text.strip() + " ")
    parts = re.split(r",| and | & | plus | as well as ", text)
    return [name for part in parts if (name := field_name(part)) and len(name) <= 60]
