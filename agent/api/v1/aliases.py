"""The older address of a question, below `/document/`: the same view under another name."""

from rest_framework.request import Request

from agent.api.v1.bodies import ResponseBody
from agent.api.v1.showing import ResponseAnswer
from agent.api.v1.views import ERRORS, EXAMPLE, HEADERS, ResponsesView
from core.api.operations import operation
from core.api.v1 import V1Problem
from core.api.views import Result


class CompletionAlias(ResponsesView):
    """`POST /v1/documents/{document_id}/responses`."""

    @operation(
        "v1_alias_completion", "The same as v1_create_response", tag="Aliases (v1)", answer=ResponseAnswer,
        or_events=True, body=ResponseBody, errors=ERRORS, example=EXAMPLE, headers=HEADERS, problem=V1Problem,
    )  # fmt: skip
    async def post(self, request: Request, document_id: str) -> Result:
        return await super().post(request, document_id)
