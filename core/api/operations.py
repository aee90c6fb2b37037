"""What each handler says of itself for the OpenAPI description: `@operation` beside the code that does it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, get_args, get_origin

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel, RootModel, create_model

from core.api.bodies import Answer

F = TypeVar("F", bound=Callable[..., Any])

DESCRIPTIONS = {
    400: "Something in the request is not possible",
    401: "Nobody, or a token that is not valid here",
    402: "Out of credits",
    403: "Not for this person",
    404: "No such thing, or not for this person",
    409: "Not possible in the present state",
    410: "Expired, used up or taken back",
    413: "Too large",
    422: "The request has another form than described",
    429: "Too many requests; see Retry-After",
    500: "The server is not set up for this",
    502: "A model provider failed",
    503: "Something this needs is not available right now",
}

EVENTS = {
    "type": "object",
    "description": "One event of the stream; `data` is JSON, `id` is what Last-Event-ID takes.",
    "properties": {"id": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}


_TEXT = {"type": "string"}


class Problem(Answer):
    """What went wrong: a sentence for a person, a code for a program."""

    detail: str
    code: str | None = None


class FieldProblem(Answer):
    """One thing that is wrong in a request, and where."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class ValidationProblem(Answer):
    """Everything that is wrong in a request."""

    detail: list[FieldProblem] | str


def operation(
    operation_id: str,
    summary: str,
    *,
    tag: str,
    answer: Any = None,
    body: type[BaseModel] | dict[str, Any] | None = None,
    query: type[BaseModel] | None = None,
    errors: Sequence[int] = (),
    example: dict[str, Any] | None = None,
    answer_example: Any = None,
    media_type: str = "application/json",
    or_events: bool = False,
    or_text: bool = False,
    ranges: bool = False,
    headers: Sequence[str] = (),
    public: bool = False,
    status: int = 200,
    or_status: int | None = None,
    problem: type[BaseModel] | None = None,
) -> Callable[[F], F]:
    """Describe a handler. `answer` is a model, `list[Model]` or a schema; `errors` beside the 401, 422 and 429 of all.

    `media_type` is the answer's; with `or_events` or `or_text` it may be a stream instead, with `ranges` a part of it.
    `headers` are request headers that matter here. `status` is that of success, `or_status` another one; `problem` the
    form of errors, where it is not the usual one.
    """
    statuses = sorted({*errors, 422, 429, *(() if public else (401, 403)), *((413,) if body is not None else ())})
    responses = _success(status, media_type, answer)
    if or_status is not None:
        responses |= _success(or_status, media_type, answer)
    responses |= _streams(or_events=or_events, or_text=or_text)
    if ranges:
        responses |= _ranges(answer, media_type)
    responses |= {(code, "application/json"): _problem(code, problem) for code in statuses}
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        tags=[tag],
        request={"application/json": body} if isinstance(body, type) else body,
        responses=responses,
        parameters=[*_parameters(query), *map(_header, headers)],
        examples=_examples(example, answer_example, status),
        auth=[] if public else None,
    )


def _success(status: int, media_type: str, answer: Any) -> dict[Any, Any]:
    if status == 204:
        return {204: OpenApiResponse(description="Done")}
    return {(status, media_type): _described(answer, "Done")}


def _streams(*, or_events: bool, or_text: bool) -> dict[Any, OpenApiResponse]:
    """What a program may ask for in place of the JSON."""
    events = {(200, "text/event-stream"): _described(EVENTS, "Done")} if or_events else {}
    return events | ({(200, "text/plain"): _described({"type": "string"}, "Done")} if or_text else {})


def _ranges(answer: Any, media_type: str) -> dict[Any, OpenApiResponse]:
    """What is sent instead of the whole."""
    return {
        (206, media_type): _described(answer, "The range that was asked for"),
        304: OpenApiResponse(description="As the client has it"),
        416: OpenApiResponse(cast("Any", Problem), description="No such range"),
    }


def _problem(status: int, form: type[BaseModel] | None) -> OpenApiResponse:
    usual = ValidationProblem if status == 422 else Problem
    return OpenApiResponse(cast("Any", form or usual), description=DESCRIPTIONS[status])


def _examples(request: Any, answer: Any, status: int) -> list[OpenApiExample]:
    examples = []
    if request is not None:
        examples.append(OpenApiExample("Request", value=request, request_only=True))
    if answer is not None:
        examples.append(OpenApiExample("Answer", value=answer, response_only=True, status_codes=[str(status)]))
    return examples


def _described(answer: Any, words: str) -> OpenApiResponse:
    if get_origin(answer) is list:  # becomes a component of its own, like every model
        name = f"{get_args(answer)[0].__name__}List"
        answer = create_model(name, __base__=cast("type[BaseModel]", RootModel[answer]))
    return OpenApiResponse({"type": "object"} if answer is None else answer, description=words)


def _header(name: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=False)


def _parameters(query: type[BaseModel] | None) -> list[OpenApiParameter]:
    if query is None:
        return []
    described = query.model_json_schema(mode="validation")
    required = set(described.get("required", ()))
    return [
        OpenApiParameter(
            name,
            _without_null(part),
            OpenApiParameter.QUERY,
            required=name in required,
            description=part.get("description", ""),
        )
        for name, part in described["properties"].items()
    ]


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    """A parameter is given or not; there is no null in a query string."""
    kept = {key: value for key, value in part.items() if key not in ("title", "default", "description")}
    choices = [choice for choice in kept.pop("anyOf", ()) if choice != {"type": "null"}]
    return {**kept, **(choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {})}
