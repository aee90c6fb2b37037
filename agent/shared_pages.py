"""Asking about a shared document from its public page, by a plain form. The ticket of the view decides who may."""

import json
from functools import partial

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from agent.answering import Answering
from agent.answers.asked import Asked, Job
from agent.answers.services import begin_shared_response
from agent.models import Response
from core.api.limits import count
from core.errors import Invalid
from core.threads import in_thread
from documents.sharing.doors import COOKIE, address_of, page_context, public_page
from documents.sharing.services import look, open_for_asking, return_answer

LONGEST = 2_000


class QuestionMissing(Invalid):
    code = "question_missing"
    detail = f"Write a question of at most {LONGEST:,} characters."


@csrf_exempt  # no other site's form carries the ticket, and a page without a referrer could not prove where it is from
@require_POST
@public_page
async def ask(request: HttpRequest, share_id: str) -> HttpResponseBase:
    """One question, one answer, on the page again."""
    job = await in_thread(partial(_begin, request, share_id))
    answered = await Answering(job).result()
    return await in_thread(partial(_page, request, share_id, answered))


def _begin(request: HttpRequest, share_id: str) -> Job:
    count("chat", [("address", address_of(request))])
    question = request.POST.get("question", "").replace("\0", "").strip()
    if not 0 < len(question) <= LONGEST:
        raise QuestionMissing
    ticket = request.COOKIES.get(COOKIE) or "none"
    view = open_for_asking(share_id=share_id, ticket=ticket, address=address_of(request))
    try:
        return begin_shared_response(view=view, asked=Asked(text=question))
    except BaseException:
        return_answer(share_id=view.share_id)
        raise


def _page(request: HttpRequest, share_id: str, answered: Response) -> HttpResponse:
    link = look(share_id=share_id, ticket=request.COOKIES.get(COOKIE, ""))
    cited = [
        {
            "page": citation["page"],
            "quote": citation["quote"],
            "highlight": json.dumps({"boxes": [{"page": citation["page"], "box": box} for box in citation["boxes"]]}),
        }
        for citation in answered.citations
    ]
    context = {"question": answered.question, "answer": answered.answer, "cited": cited}
    return render(request, "share/page.html", page_context(link) | context)
