"""An answer as the wire has it: our own fields, and those of OpenAI's Responses object, in one."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from agent.answers.asked import Asked, Citation, Job, Source
from agent.models import Response
from core.api.bodies import Answer
from core.api.v1 import V1Answer
from core.errors import DomainError, Unavailable
from core.ids import show_id
from llm.content import DocumentContent

Json = dict[str, Any]
Box = Annotated[list[float], Field(min_length=4, max_length=4)]


class CitationAnswer(V1Answer):
    """A passage of the document. Units: boxes are [x0, y0, x1, y1], fractions of the page, origin top left.

    `quote` has the page's own words. `path` names the value of a structured answer that the passage proves.
    """

    page: int
    quote: str
    boxes: list[Box]
    verified: Literal[True] = True
    path: str | None = None


class AnnotationAnswer(Answer):
    """A citation as OpenAI's annotation; `index` is where in the text it stands."""

    model_config = ConfigDict(extra="allow")

    type: Literal["file_citation"] = "file_citation"
    file_id: str
    filename: str
    index: int
    page: int
    quote: str
    boxes: list[Box]
    verified: Literal[True] = True


class OutputTextAnswer(Answer):
    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[AnnotationAnswer]
    logprobs: list[Any] = []


class OutputMessageAnswer(Answer):
    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: str
    content: list[OutputTextAnswer]


class InputTokensAnswer(Answer):
    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensAnswer(Answer):
    reasoning_tokens: int = 0


class ResponseUsage(Answer):
    """Units: tokens."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputTokensAnswer = InputTokensAnswer()
    output_tokens_details: OutputTokensAnswer = OutputTokensAnswer()


class ResponseErrorAnswer(Answer):
    """`reason` is our own code."""

    code: str
    message: str
    reason: str


class ResponseAnswer(V1Answer):
    """Names in camelCase are ours, those in snake_case OpenAI's. Units: `created_at` seconds, `costUsd` US dollars,
    null when the model has no price."""

    response_id: str
    document_id: str
    run_id_used: str | None
    answer: str
    citations: list[CitationAnswer]
    cost_usd: float | None
    model_requested: str | None
    id: str
    object: Literal["response"] = "response"
    created_at: Annotated[int, Field(alias="created_at")]
    completed_at: Annotated[int | None, Field(alias="completed_at")] = None
    status: Literal["in_progress", "completed", "failed", "cancelled"]
    model: str
    output: list[OutputMessageAnswer]
    usage: ResponseUsage | None
    error: ResponseErrorAnswer | None = None
    incomplete_details: Annotated[Json | None, Field(alias="incomplete_details")] = None
    instructions: str | None = None
    metadata: dict[str, str] = {}
    text: Json = {"format": {"type": "text"}}
    parallel_tool_calls: Annotated[bool, Field(alias="parallel_tool_calls")] = False
    tool_choice: Annotated[str, Field(alias="tool_choice")] = "none"
    tools: list[Json] = []
    temperature: float | None = None
    top_p: Annotated[float | None, Field(alias="top_p")] = None
    max_output_tokens: Annotated[int | None, Field(alias="max_output_tokens")] = None
    previous_response_id: Annotated[str | None, Field(alias="previous_response_id")] = None
    truncation: str = "disabled"
    background: bool = False
    store: bool = True


class Showing:
    """Shows one answer at any moment, with what its request said."""

    def __init__(self, job: Job, *, instructions: str | None, metadata: dict[str, str] | None) -> None:
        self.job = job
        self.response_id, self.item_id = f"resp_{show_id(job.response_id)}", f"msg_{show_id(job.response_id)}"
        self._said: Json = {"instructions": instructions, "metadata": metadata or {}, "text": _text(job)}
        self._said["max_output_tokens"] = job.asked.max_tokens

    def in_progress(self) -> ResponseAnswer:
        """Before anything was said."""
        return self._answer(status="in_progress", answer="", citations=[], output=[])

    def ended(self, row: Response, problem: DomainError | None = None) -> ResponseAnswer:
        """The whole answer."""
        citations = [citation_answer(kept) for kept in row.citations]
        status = "completed" if row.status == Response.Status.COMPLETED else "incomplete"
        return self._answer(
            status=row.status,
            completed_at=int(row.completed_at.timestamp()) if row.completed_at else None,
            answer=row.answer,
            citations=citations,
            output=[self.message(status, row.answer, row.citations)] if row.answer else [],
            cost_usd=float(row.cost_usd) if row.cost_usd is not None else None,
            usage=_usage(row.usage) if row.usage else None,
            error=_error(problem) if problem else None,
        )

    def message(self, status: str, text: str, citations: list[Json]) -> OutputMessageAnswer:
        """The one message of an answer."""
        part = OutputTextAnswer(text=text, annotations=[self.annotation(kept) for kept in citations])
        return OutputMessageAnswer(id=self.item_id, status=status, content=[part])

    def annotation(self, kept: Json) -> AnnotationAnswer:
        """A kept citation as an annotation."""
        content = self.job.source.content
        return AnnotationAnswer(
            file_id=content.document_id,
            filename=content.name,
            index=kept["at"],
            page=kept["page"],
            quote=kept["quote"],
            boxes=kept["boxes"],
        )

    def _answer(self, **values: Any) -> ResponseAnswer:
        run_id = self.job.source.run_id
        return ResponseAnswer(
            **{
                "response_id": show_id(self.job.response_id),
                "document_id": self.job.source.content.document_id,
                "run_id_used": show_id(run_id) if run_id else None,
                "model_requested": self.job.asked.model or None,
                "id": self.response_id,
                "model": self.job.model,
                "created_at": int(self.job.created_at.timestamp()),
                "cost_usd": None,
                "usage": None,
                **self._said,
                **values,
            }
        )


def kept_answer(row: Response) -> ResponseAnswer:
    """A row, its document fetched, as the answer that was given. What its request said is not kept."""
    document = row.document
    content = DocumentContent(show_id(document.pk), document.name, ())
    job = Job(
        response_id=row.pk,
        created_at=row.created_at,
        source=Source(content=content, page_count=row.pages_shown, version_id=row.version_id, run_id=row.run_id),
        asked=Asked(text=row.question, model=row.model_requested),
        document_id=document.pk,
        model=row.model_used,
        cost_cap=Decimal(0),
    )
    failed = row.status == Response.Status.FAILED
    problem = Unavailable(row.error_message, code=row.error_code) if failed else None
    return Showing(job, instructions=None, metadata=None).ended(row, problem)


def citation_answer(kept: Json | Citation) -> CitationAnswer:
    """A citation as it is kept or told."""
    data = kept.as_json() if isinstance(kept, Citation) else kept
    return CitationAnswer(page=data["page"], quote=data["quote"], boxes=data["boxes"], path=data.get("path"))


def _usage(kept: Json) -> ResponseUsage:
    prompt, completion = int(kept.get("prompt_tokens", 0)), int(kept.get("completion_tokens", 0))
    return ResponseUsage(input_tokens=prompt, output_tokens=completion, total_tokens=prompt + completion)


def _error(problem: DomainError) -> ResponseErrorAnswer:
    """OpenAI's clients know a few codes; ours stands beside."""
    known = {400: "invalid_prompt", 429: "rate_limit_exceeded"}
    return ResponseErrorAnswer(
        code=known.get(problem.status, "server_error"), message=problem.detail, reason=problem.error_code
    )


def _text(job: Job) -> Json:
    wanted = job.asked.response_format
    return {"format": {"type": "json_schema", **wanted["json_schema"]} if wanted else {"type": "text"}}
