"""What a person asks for, from what they write: one request, with its details."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from llm.offline.dialogue.changewords import TYPES, Change, field_name, read_changes, unquoted
from llm.offline.typing.folding import fold

Verb = Literal[
    "setup",
    "change",
    "set",
    "run",
    "show",
    "where",
    "compare",
    "tag",
    "untag",
    "name_document",
    "name_schema",
    "delete",
    "help",
    "go_on",
    "stop",
    "thanks",
    "ask",
]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `text` and `value` carry the details of a verb."""

    verb: Verb
    changes: tuple[Change, ...] = ()
    text: str = ""
    value: str = ""


_POLITE = re.compile(
    r"^(?:(?:please|now|ok(?:ay)?|and|then|also(?! extract)|but|hi|hello|yes|no|great|thanks)\b[,.!:]?\s*)+"
    r"|^(?:can|could|would|will) you (?:please )?"
    r"|^(?:i(?:'d| would) like (?:you )?to|i want (?:you )?to|let's|you should)\s+",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"\bwhat (?:can|do) you do\b|^help\b|\bhow (?:does this|do you) work\b|\bwho are you\b|\bwhat are you\b"
    r"|was kannst du|que peux-tu|wat kun je"
)
_YES = re.compile(
    r"(?:(?:yes|ok|okay)[, ]+)?"
    r"(?:yes|y|go on|continue|go ahead|proceed|next|do it|sure|ja|oui|weiter|ok|okay|approved?|fine|please do)"
)
_THANKS = re.compile(
    r"|(?:no )?(?:thanks|thank you|danke|merci|bedankt)(?: a lot| very much)?"
    r"|great|perfect|looks good|hello|hi|hallo|bonjour"
)
_NO = re.compile(r"no|stop|cancel|nothing|never mind|forget it|nein|non|nee")
_SET_UP = re.compile(
    r"\b(?:set ?up|configure|prepare|build|make|create|propose|suggest|design|generate|start)\b"
    r".{0,60}\b(?:extraction|schema|fields)\b"
)
_ANALYSE = re.compile(
    r"\banaly[sz]e (?:this|the) document\b"
    r"|\bextract (?:the |all |this |its )*"
    r"(?:key|main|important|everything|all|data|fields|information|content|document|[a-z]+ data)\b(?!.*\bagain\b)"
)
_OTHER_TONGUES = re.compile(
    r"richte .*ein|extraktion|(?:configure|prepare|mets en place|cree).*(?:extraction|schema)"
    r"|maak .*(?:schema|extractie)"
)
_REUSE = re.compile(r"\b(?:reuse|re-use|existing)\b")
_LISTABLE = re.compile(
    r"\b(?:list|show|which|what|see|display|give me|print)\b.*?"
    r"\b(fields|columns|schema|schemas|prompts|prompt|tags|documents|extraction|result|results|values|models)\b"
)
_WHERE = re.compile(
    r"(?:where (?:does|do|did|is|are|was)|how do you know|why is|explain|show me where|locate|find)"
    r"(?: you)?(?: find| found| get)? (?:the |that )?(?:value (?:of|for) )?(?:the )?(.+?)"
    r"(?: come from| coming from| from| stand| located| on the page| in the document)?\??$",
    re.IGNORECASE,
)
_RUN = re.compile(
    r"(?:re-?)?run\b|(?:extract|try|do)(?: it| this| the extraction| that)?(?: once)? (?:again|now)$"
    r"|repeat|start the extraction|extract$|execute",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:compare|what (?:has )?changed|what (?:is|'s) different|differences?|diff)\b"
    r"(?=.*\b(?:results?|extractions?|runs?|before|earlier|previous|last|values?|changed)\b)"
    r"|\bwas hat sich geandert|\bqu'est-ce qui a change|\bwat is er veranderd"
)
_SHOWN = {
    "columns": "fields",
    "schema": "fields",
    "result": "extraction",
    "results": "extraction",
    "values": "extraction",
}


def read_request(question: str) -> Request:
    """The request in a message; "ask" when it is none of the things that can be done."""
    small = _small_talk(question.strip().rstrip(" .!?"))
    if small is not None:
        return small
    plain = _plain(question)
    for reader in _READERS:
        request = reader(plain)
        if request is not None:
            return request
    return Request("ask", text=question.strip())


def read_reason(reason: str) -> Request:
    """What a rejection's reason asks for: the whole of it, else its last clause that asks for something."""
    acting = {"change", "name_schema", "setup", "name_document"}
    whole = read_request(reason)
    if whole.verb in acting:
        return whole
    clauses = [clause for clause in re.split(r"[,;:.–-] +|\bbut\b|\binstead\b", reason) if clause.strip()]
    found = [request for clause in clauses if (request := read_request(clause)).verb in acting]
    return found[-1] if found else whole


def _plain(question: str) -> str:
    text = " ".join(question.replace("’", "'").replace("“", '"').replace("”", '"').split()).strip()
    for _ in range(3):
        text = _POLITE.sub("", text).strip()
    return text.rstrip(" .!?") if not text.rstrip(" .!").endswith("?") else text.rstrip(" .!")


def _small_talk(text: str) -> Request | None:
    low = fold(text)
    if _HELP.search(low):
        return Request("help")
    for pattern, verb in ((_YES, "go_on"), (_THANKS, "thanks"), (_NO, "stop")):
        if pattern.fullmatch(low):
            return Request(verb)  # type: ignore[arg-type]  # the three are verbs
    return None


def _setup(text: str) -> Request | None:
    low = fold(text)
    wish = Request("setup", text="reuse" if _REUSE.search(low) else "")
    about_one = re.search(r"\bfields? (?:for|called|named)\b|\b(?:schema|prompt) (?:name|called)|^add\b", low)
    if _SET_UP.search(low) and not about_one:
        return wish
    if _ANALYSE.search(low) or re.search(r"\b(?:reuse|use) (?:an? |the )?(?:existing|fitting|other) schema\b", low):
        return wish
    return wish if _OTHER_TONGUES.search(low) else None


def _tag(text: str) -> Request | None:
    match = re.match(
        r"(?:tag|label|mark) (?:this|the|it|document)(?: document| file)?(?: as| with)? (?:the tag )?(.+)", text, re.I
    )
    match = match or re.match(
        r"(?:add|put|set|give it|attach|apply)(?: the| a)? (?:tag|label) (.+?)(?: to (?:this|the|it).*)?$", text, re.I
    )
    if match:
        return Request("tag", text=unquoted(match[1]))
    match = re.match(r"(?:untag|remove the tag|remove tag) (.+?)(?: from .*)?$", text, re.I)
    return Request("untag", text=unquoted(match[1])) if match else None


def _naming(text: str) -> Request | None:
    match = re.match(r"(?:rename|name|call) (?:this |the )?(?:document|file) (?:to |as )?(.+)", text, re.I)
    if match:
        return Request("name_document", text=unquoted(match[1]))
    if re.search(r"\b(?:and|then) (?:add|remove|drop|rename|delete|make|change|include)\b", text, re.I):
        return None
    return _naming_schema(text)


def _naming_schema(text: str) -> Request | None:
    match = re.match(
        r"(?:rename|name|call) (?:it|the schema|this schema|schema)(?: to| as)? (.+?)(?: instead)?$", text, re.I
    )
    return Request("name_schema", text=unquoted(match[1])) if match else None


def _delete(text: str) -> Request | None:
    match = re.match(r"(?:delete|remove|trash) (?:this |the )?(document|file|schema|prompt|tag)s?\b ?(.*)", text, re.I)
    if match is None:
        return None
    return Request("delete", text=match[1].lower().replace("file", "document"), value=unquoted(match[2]))


def _set(text: str) -> Request | None:
    match = re.match(
        r"(?:set|change|correct|fix|update|put) (?:the )?(?:value of )?(?:the )?(.+?) (?:to|=|as|into) (.+)", text, re.I
    )
    match = match or re.match(
        r"(?:the )?(.{2,40}?) (?:should be|must be|is actually|is really|has to be) (.+)", text, re.I
    )
    if match is None or "?" in text or re.match(r"(?:required|mandatory|optional)\b", match[2], re.I):
        return None
    kind = rf"(?:be )?(?:an? |of type )?(?:type )?(?:{TYPES})(?: field| type| value)?"
    if re.fullmatch(kind, unquoted(match[2]), re.I):
        return None
    return Request("set", text=unquoted(match[1]), value=unquoted(match[2]))


def _changes(text: str) -> Request | None:
    parts = re.split(
        r"[;.] +(?=[a-z])|,? (?:and|then|but) "
        r"(?=(?:add|remove|drop|rename|delete|make|change|include|leave out|call|name)\b)",
        text,
        flags=re.I,
    )
    names = [named.text for part in parts if (named := _naming_schema(part.strip())) is not None]
    found = [change for part in parts if _naming_schema(part.strip()) is None for change in read_changes(part.strip())]
    return Request("change", changes=tuple(found), text=names[-1] if names else "") if found else None


def _run(text: str) -> Request | None:
    return Request("run") if _RUN.match(text) else None


def _show(text: str) -> Request | None:
    low = fold(text)
    match = _LISTABLE.search(low)
    if match is None or re.search(r"\bwhere\b", low):
        return None
    return Request("show", text=_SHOWN.get(match[1], match[1]))


def _compare(text: str) -> Request | None:
    return Request("compare") if _COMPARE.search(fold(text)) else None


def _where(text: str) -> Request | None:
    match = _WHERE.match(text)
    return Request("where", text=field_name(match[1])) if match else None


_READERS: tuple[Callable[[str], Request | None], ...] = (
    _tag,
    _naming,
    _compare,
    _where,
    _delete,
    _setup,
    _run,
    _set,
    _changes,
    _show,
)
