"""What a person asks for, from what they write: one request, with its details."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from llm.offline.typing.folding import fold

Verb = Literal[
    "setup",
    "change",
    "set",
    "run",
    "show",
    "where",
    "tag",
    "untag",
    "name_document",
    "name_schema",
    "delete",
    "help",
    "go_on",
    "stop",
    "ask",
]
TYPE_WORDS = {
    "integer": "integer", "whole number": "integer", "int": "integer", "number": "number", "decimal": "number", "amount": "number",
    "float": "number", "string": "string", "text": "string", "boolean": "boolean", "bool": "boolean", "yes/no": "boolean",
    "true/false": "boolean", "checkbox": "boolean", "date": "date",
}  # fmt: skip
_TYPES = "|".join(sorted(map(re.escape, TYPE_WORDS), key=len, reverse=True))
_POLITE = re.compile(
    r"^(?:(?:please|now|ok(?:ay)?|and|then|also|but|hi|hello|yes|no|great|thanks)\b[,.!:]?\s*)+|^(?:can|could|would|will) you (?:please )?|"
    r"^(?:i(?:'d| would) like (?:you )?to|i want (?:you )?to|let's|you should)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a schema's fields. `name` and `to` as the person wrote them."""

    act: Literal["add", "remove", "rename", "retype", "require"]
    name: str
    to: str = ""
    column: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `text` and `value` carry the details of a verb."""

    verb: Verb
    changes: tuple[Change, ...] = ()
    text: str = ""
    value: str = ""


def read_request(question: str) -> Request:
    """The request in a message; "ask" when it is none of the things that can be done."""
    plain = _plain(question)
    for reader in _READERS:
        request = reader(plain)
        if request is not None:
            return request
    return Request("ask", text=question.strip())


def _plain(question: str) -> str:
    text = " ".join(question.replace("’", "'").replace("“", '"').replace("”", '"').split()).strip()
    for _ in range(3):
        text = _POLITE.sub("", text).strip()
    return text.rstrip(" .!?") if not text.rstrip(" .!").endswith("?") else text.rstrip(" .!")


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'“”‘’`").strip()


def _setup(text: str) -> Request | None:
    low = fold(text)
    if re.search(
        r"\b(?:set ?up|configure|prepare|build|make|create|propose|suggest|design|generate|start)\b.{0,60}\b(?:extraction|schema|fields)\b",
        low,
    ):
        if not re.search(r"\bfields? (?:for|called|named)\b|\b(?:schema|prompt) (?:name|called)", low) and not re.match(
            r"add\b", low
        ):
            return Request("setup", text="reuse" if re.search(r"\b(?:reuse|existing|re-use)\b", low) else "")
    if re.search(
        r"\banaly[sz]e (?:this|the) document\b|\bextract (?:the|all|this|its|key|everything|data|what|important)\b(?!.*\bagain\b)",
        low,
    ):
        return Request("setup")
    if re.search(r"\b(?:reuse|use) (?:an? |the )?(?:existing|fitting|other) schema\b", low):
        return Request("setup", text="reuse")
    if re.search(
        r"richte .*ein|extraktion|(?:configure|prepare|mets en place|cree).*(?:extraction|schema)|maak .*(?:schema|extractie)",
        low,
    ):
        return Request("setup")
    return None


def _tag(text: str) -> Request | None:
    match = re.match(
        r"(?:tag|label|mark) (?:this|the|it|document)(?: document| file)?(?: as| with)? (?:the tag )?(.+)", text, re.I
    )
    match = match or re.match(
        r"(?:add|put|set|give it|attach|apply)(?: the| a)? (?:tag|label) (.+?)(?: to (?:this|the|it).*)?$", text, re.I
    )
    if match:
        return Request("tag", text=_unquoted(match[1]))
    match = re.match(r"(?:untag|remove the tag|remove tag) (.+?)(?: from .*)?$", text, re.I)
    return Request("untag", text=_unquoted(match[1])) if match else None


def _naming(text: str) -> Request | None:
    match = re.match(r"(?:rename|name|call) (?:this |the )?(?:document|file) (?:to |as )?(.+)", text, re.I)
    if match:
        return Request("name_document", text=_unquoted(match[1]))
    match = re.match(r"(?:rename|name|call) (?:it|the schema|this schema|schema)(?: to| as)? (.+)", text, re.I)
    return Request("name_schema", text=_unquoted(match[1])) if match else None


def _delete(text: str) -> Request | None:
    match = re.match(r"(?:delete|remove|trash) (?:this |the )?(document|file|schema|prompt|tag)s?\b ?(.*)", text, re.I)
    return (
        Request("delete", text=match[1].lower().replace("file", "document"), value=_unquoted(match[2]))
        if match
        else None
    )


def _set(text: str) -> Request | None:
    match = re.match(
        r"(?:set|change|correct|fix|update|put) (?:the )?(?:value of )?(?:the )?(.+?) (?:to|=|as|into) (.+)", text, re.I
    )
    match = match or re.match(
        r"(?:the )?(.{2,40}?) (?:should be|must be|is actually|is really|has to be) (.+)", text, re.I
    )
    if match and not re.fullmatch(
        rf"(?:be )?(?:an? |of type )?(?:type )?(?:{_TYPES})(?: field| type| value)?", _unquoted(match[2]), re.I
    ):
        if not re.match(r"(?:required|mandatory|optional)\b", match[2], re.I) and "?" not in text:
            return Request("set", text=_unquoted(match[1]), value=_unquoted(match[2]))
    return None


def _changes(text: str) -> Request | None:
    parts = re.split(
        r"[;.] +(?=[a-z])|,? (?:and|then|but) (?=(?:add|remove|drop|rename|delete|make|change|include|leave out)\b)",
        text,
        flags=re.I,
    )
    found = [change for part in parts for change in _changes_of(part.strip())]
    return Request("change", changes=tuple(found)) if found else None


def _changes_of(text: str) -> list[Change]:
    for reader in (_rename, _retype, _remove, _add):
        found = reader(text)
        if found:
            return found
    return []


def _rename(text: str) -> list[Change]:
    match = re.match(r"rename (?:the )?(?:field |column )?(.+?) (?:to|as|into|->) (.+)", text, re.I)
    match = match or re.match(
        r"call (?:the )?(?:field |column )?(.+?) (?:instead )?(?:as )?[\"']?([\w ]+?)[\"']?(?: instead)?$", text, re.I
    )
    if not match or _unquoted(match[1]).lower() in {"it", "the schema", "schema", "this"}:
        return []
    return [Change("rename", _field(match[1]), _unquoted(match[2]))]


def _retype(text: str) -> list[Change]:
    pattern = rf"(?:make|change|turn|convert|set)? ?(?:the )?(?:type of )?(?:the )?(.+?) (?:(?:to|into|as|should be|must be|be) )?(?:an? )?(?:of )?(?:type )?({_TYPES})(?: field| type| value)?$"
    match = re.match(pattern, text, re.I)
    if match and re.match(r"(?:make|change|turn|convert|set)\b|.*\b(?:should|must) be\b", text, re.I):
        return [Change("retype", _field(match[1]), TYPE_WORDS[match[2].lower()])]
    match = re.match(r"make (?:the )?(.+?) (required|mandatory|optional)$", text, re.I)
    return [Change("require", _field(match[1]), match[2].lower())] if match else []


def _remove(text: str) -> list[Change]:
    match = re.match(
        r"(?:remove|drop|delete|leave out|skip|omit|get rid of|take out|without|no|don't (?:need|want|extract)) (.+)",
        text,
        re.I,
    )
    return [Change("remove", name) for name in _listed(match[1])] if match else []


def _add(text: str) -> list[Change]:
    match = re.match(
        r"(?:add|include|insert|also extract|extract also|append|create a field|capture|(?:i|we)(?: also)? (?:need|want)|(?:there is |you )?(?:missing|forgot))(?: also| too)? (.+)",
        text, re.I,
    )  # fmt: skip
    if not match:
        return []
    rest = re.sub(
        r"\b(?:as well|too|also|to (?:the |this )?schema|please|is missing)\b", "", match[1], flags=re.I
    ).strip()
    column = bool(
        re.search(
            r"\bcolumns?\b|\b(?:to|in|for|on) (?:each|every|the|all)? ?(?:lines?|rows?|items?|line[_ ]items|table)\b",
            rest,
            re.I,
        )
    )
    rest = re.sub(
        r"\b(?:to|in|for|on) (?:each|every|the|all)? ?(?:of the )?(?:lines?|rows?|items?|line[_ ]items|table)\b",
        "",
        rest,
        flags=re.I,
    )
    kind = re.search(rf"\(?\b(?:as an?|of type|type|\() ?({_TYPES})\)?$", rest.strip(), re.I)
    if kind:
        rest = rest[: kind.start()].strip(" (")
    return [Change("add", name, TYPE_WORDS[kind[1].lower()] if kind else "", column) for name in _listed(rest)]


def _listed(text: str) -> list[str]:
    text = re.sub(
        r"^(?:an? |the |another |new |two |some )*(?:new |extra )?(?:fields?|columns?|property|properties)?(?: (?:for|called|named|with|like|of))?:? ",
        "",
        text.strip() + " ",
        flags=re.I,
    )
    return [name for part in re.split(r",| and | & | plus | as well as ", text) if (name := _field(part))]


def _field(text: str) -> str:
    text = _unquoted(text)
    text = re.sub(r"^(?:and |an? |the |its |new |fields? |columns? )+", "", text, flags=re.I)
    return re.sub(r"\s+(?:fields?|columns?)$", "", text, flags=re.I).strip(" .\"'`")


def _run(text: str) -> Request | None:
    pattern = r"(?:re-?)?run\b|(?:extract|try|do)(?: it| this| the extraction| that)?(?: once)? (?:again|now)$|repeat|start the extraction|extract$|execute"
    return Request("run") if re.match(pattern, text, re.I) else None


def _show(text: str) -> Request | None:
    low = fold(text)
    match = re.search(
        r"\b(?:list|show|which|what|see|display|give me|print)\b.*?\b(fields|columns|schema|schemas|prompts|prompt|tags|documents|extraction|result|results|values|models)\b",
        low,
    )
    if not match or re.search(r"\bwhere\b", low):
        return None
    return Request(
        "show",
        text={
            "columns": "fields",
            "schema": "fields",
            "result": "extraction",
            "results": "extraction",
            "values": "extraction",
        }.get(match[1], match[1]),
    )


def _where(text: str) -> Request | None:
    match = re.match(
        r"(?:where (?:does|do|did|is|are|was)|how do you know|why is|explain|show me where|locate|find)(?: you)?(?: find| found| get)? (?:the |that )?(?:value (?:of|for) )?(?:the )?(.+?)(?: come from| coming from| from| stand| located| on the page| in the document)?\??$",
        text,
        re.I,
    )
    return Request("where", text=_field(match[1])) if match else None


def _small_talk(text: str) -> Request | None:
    low = fold(text)
    if re.search(
        r"\bwhat (?:can|do) you do\b|^help\b|\bhow (?:does this|do you) work\b|\bwho are you\b|\bwhat are you\b|was kannst du|que peux-tu",
        low,
    ):
        return Request("help")
    if re.fullmatch(
        r"|yes|y|go on|continue|go ahead|proceed|next|do it|sure|ja|oui|weiter|ok|okay|approve[d]?|looks good|fine", low
    ):
        return Request("go_on")
    return Request("stop") if re.fullmatch(r"no|stop|cancel|nothing|never mind|forget it|nein|non", low) else None


_READERS: tuple[Callable[[str], Request | None], ...] = (
    _small_talk, _tag, _naming, _where, _delete, _setup, _run, _set, _changes, _show,
)  # fmt: skip
