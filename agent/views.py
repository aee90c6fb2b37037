"""Pages and fragments of the agent. Every command is a form post; what it changes comes back as fragments."""

import json
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from agent import services
from agent.cards import ordered_arguments
from agent.conversation import one_turn_view, panel_context, thread_context
from agent.endings import FINAL
from agent.errors import TurnNotFound, TurnOpen
from agent.events import TurnStarted
from agent.forms import edit_form, read_form
from agent.mentioning import suggestions
from agent.models import Thread, ToolCall, Turn
from agent.render import call_html, decided_html, event_html
from agent.selectors import (
    count_waiting,
    get_thread,
    get_tool_call,
    get_turn,
    list_threads,
    waiting_turns,
    what_was_sent,
)
from agent.services import Decision
from agent.toolbox import ArgumentsRefused
from agent.turn_view import call_dom_id, turn_view
from core.errors import DomainError, Invalid
from documents.proposals import waiting_proposals
from documents.review_card import card_of
from documents.selectors import get_document
from organizations.doors import MemberRequest, member_page

STOP_SECONDS = 3.0
RULE_DAYS = (1, 7, 30)
WAITING_SHOWN = 30


@require_GET
@member_page
def panel(request: MemberRequest, document_id: str) -> HttpResponse:
    """The whole tab. `?thread=` names a thread, "new" none yet; without it the newest one is opened.

    The address of the page that asks may name the thread too: links from "Waiting on you" do.
    """
    asking = QueryDict(urlsplit(request.htmx.current_url or "").query)
    wanted = request.GET.get("thread", "") or asking.get("thread", "")
    found: Thread | None = None
    if wanted and wanted != "new":
        found = services.open_thread(actor=request.actor, document_id=document_id, thread_id=wanted)
    elif not wanted:
        found = list_threads(actor=request.actor, document_id=document_id).first()
    return _panel(request, document_id, found)


@require_GET
@member_page
def thread(request: MemberRequest, document_id: str) -> HttpResponse:
    """The conversation alone, for a page that noticed a gap or came back."""
    found = get_thread(actor=request.actor, document_id=document_id, thread_id=request.GET.get("thread", ""))
    document = get_document(actor=request.actor, document_id=document_id)
    context = thread_context(actor=request.actor, document=document, thread=found, head=request.GET.get("head", ""))
    return _fresh(render(request, "agent/thread.html", context))


@require_POST
@member_page
def send(request: MemberRequest, document_id: str) -> HttpResponse:
    """Ask. The question is taken out of the composer only by the answer that says it is stored."""
    thread_id = request.POST.get("thread", "")
    try:
        turn = _ask(request, document_id, thread_id)
    except TurnOpen as problem:
        standing = get_turn(actor=request.actor, turn_id=problem.extra["turn_id"])
        return _not_sent(request, {"status": standing.status})
    except DomainError as problem:
        return _not_sent(request, {"problem": problem.detail})
    if not thread_id or request.POST.get("resubmit"):
        response = _panel(request, document_id, turn.thread)
        response["HX-Retarget"] = "#agent-panel"
        response["HX-Reswap"] = "outerHTML"
    else:
        view = one_turn_view(actor=request.actor, turn=turn)
        started = TurnStarted(turn_id=view.hex, thread_id=thread_id, model=turn.model)
        response = _fresh(HttpResponse(event_html(started, turn_hex=view.hex, turn=view)))
    response["HX-Trigger"] = "agent-sent"
    return response


@require_POST
@member_page
def decide(request: MemberRequest, document_id: str, turn_id: str) -> HttpResponse:
    """Approve, edit, reject, or always allow; one card or several. Bound to the arguments that were shown."""
    verdict = request.POST.get("decision", "")
    call_ids = request.POST.getlist("call")
    if verdict == "edit":
        return _decide_edited(request, document_id, turn_id)
    if verdict not in ("approve", "reject", "always") or not call_ids:
        raise Invalid("Approve or reject something.")
    hashes = request.POST.getlist("hash")
    if len(hashes) != len(call_ids):
        raise Invalid("This form came incomplete. Reload the page.")
    decisions = [
        Decision(
            call_id=call_id,
            approved=verdict != "reject",
            reason=request.POST.get("reason", "") if verdict == "reject" else "",
            arguments_hash=shown,
        )
        for call_id, shown in zip(call_ids, hashes, strict=True)
    ]
    with transaction.atomic():
        if verdict == "always":
            _allow(request, document_id, turn_id, call_ids[0])
        services.decide(actor=request.actor, document_id=document_id, turn_id=turn_id, decisions=decisions)
    return _decided(request, turn_id, call_ids)


@require_POST
@member_page
def cancel(request: MemberRequest, document_id: str, turn_id: str) -> HttpResponse:
    """Stop a turn. The line above the composer is drawn by the event that follows."""
    turn = services.cancel_turn(actor=request.actor, document_id=document_id, turn_id=turn_id)
    call_ids = [call.call_id for call in turn.tool_calls.all()]
    return _decided(request, turn_id, call_ids) if turn.status in FINAL else HttpResponse(status=204)


@require_GET
@member_page
def edit(request: MemberRequest, document_id: str, call_id: str) -> HttpResponse:
    """The form in which a waiting call is edited."""
    call, turn = _call(request, document_id, call_id)
    context = {"form": edit_form(call.name, ordered_arguments(call))}
    return _call_fragment(request, "agent/_edit.html", turn, call, context)


@require_GET
@member_page
def card(request: MemberRequest, document_id: str, call_id: str) -> HttpResponse:
    """The card again, as after Cancel in its form."""
    call, turn = _call(request, document_id, call_id)
    return _call_fragment(request, "agent/_call.html", turn, call, {})


@require_POST
@member_page
def undo(request: MemberRequest, document_id: str, call_id: str) -> HttpResponse:
    """Take back what a call wrote."""
    _call(request, document_id, call_id)
    call = services.undo_tool_call(actor=request.actor, call_row_id=call_id)
    view = turn_view(get_turn(actor=request.actor, turn_id=call.turn_id), actor=request.actor)
    shown = view.call(call.call_id)
    return HttpResponse(call_html(view, shown) if shown else "")


@require_GET
@member_page
def sent(request: MemberRequest, document_id: str, turn_id: str) -> HttpResponse:
    """What each round's model call was given: for the author and admins."""
    turn = get_turn(actor=request.actor, turn_id=turn_id, document_id=document_id)
    messages = [message for message in turn.messages.all() if message.role == "assistant"]
    rounds = [
        {
            "number": message.round_index + 1,
            "sent": json.dumps(
                what_was_sent(actor=request.actor, message_id=message.pk), ensure_ascii=False, indent=2, default=str
            ),
        }
        for message in sorted(messages, key=lambda message: message.position)
    ]
    return _fresh(render(request, "agent/sent.html", {"turn": turn, "rounds": rounds}))


@require_GET
@member_page
def waiting(request: MemberRequest) -> HttpResponse:
    """Every turn and every proposal that waits for this person, decidable right here."""
    rows = list(waiting_turns(actor=request.actor)[:WAITING_SHOWN])
    items = [{"turn": turn_view(row, actor=request.actor, opened=False), "row": row} for row in rows]
    proposals = waiting_proposals(actor=request.actor)[:WAITING_SHOWN]
    cards = [card_of(actor=request.actor, attempt=attempt) for attempt in proposals]
    return _fresh(render(request, "agent/waiting.html", {"items": items, "cards": cards}))


@require_GET
@member_page
def waiting_count(request: MemberRequest) -> HttpResponse:
    """The number beside the link in the side bar; nothing when nothing waits."""
    count = count_waiting(actor=request.actor)
    return _fresh(HttpResponse(str(count) if count else ""))


@require_GET
@member_page
def mentions(request: MemberRequest, document_id: str) -> HttpResponse:
    """What can be mentioned, by name."""
    get_document(actor=request.actor, document_id=document_id)
    found = suggestions(actor=request.actor, text=request.GET.get("q", "")[:60])
    return _fresh(render(request, "agent/_mentions.html", {"suggestions": found}))


@require_POST
@member_page
def rename_thread(request: MemberRequest, document_id: str, thread_id: str) -> HttpResponse:
    title = request.POST.get("title", "")
    renamed = services.rename_thread(actor=request.actor, document_id=document_id, thread_id=thread_id, title=title)
    return _panel(request, document_id, renamed)


@require_POST
@member_page
def share_thread(request: MemberRequest, document_id: str, thread_id: str) -> HttpResponse:
    """Share a private thread, or make a shared one private again."""
    found = get_thread(actor=request.actor, document_id=document_id, thread_id=thread_id)
    changed = services.share_thread(
        actor=request.actor, document_id=document_id, thread_id=thread_id, shared=not found.shared
    )
    return _panel(request, document_id, changed)


@require_POST
@member_page
def delete_thread(request: MemberRequest, document_id: str, thread_id: str) -> HttpResponse:
    """Move a thread to the trash and show the newest one that is left."""
    services.delete_thread(actor=request.actor, document_id=document_id, thread_id=thread_id)
    return _panel(request, document_id, list_threads(actor=request.actor, document_id=document_id).first())


@require_POST
@member_page
def revoke_rule(request: MemberRequest, document_id: str, rule_id: str) -> HttpResponse:
    """End a standing permission."""
    services.revoke_standing_rule(actor=request.actor, rule_id=rule_id)
    return _panel(request, document_id, list_threads(actor=request.actor, document_id=document_id).first())


def _ask(request: MemberRequest, document_id: str, thread_id: str) -> Turn:
    """Raises: what `start_turn` raises."""
    data, actor = request.POST, request.actor
    go_on = data.get("go_on", "")
    if go_on == "cancel" and thread_id:
        _stop_open_turn(request, document_id, thread_id)
    with transaction.atomic():
        if not thread_id:
            thread_id = services.create_thread(actor=actor, document_id=document_id).pk.hex
        return services.start_turn(
            actor=actor,
            document_id=document_id,
            text=data.get("text", ""),
            thread_id=thread_id,
            mentions=_mentions(data),
            model=data.get("model") or None,
            auto_approve=data.get("auto_approve") == "1",
            instead_of=data.get("resubmit") or None,
            reject_waiting=go_on == "reject",
        )


def _mentions(data: QueryDict) -> list[dict[str, Any]]:
    try:
        found = json.loads(data.get("mentions") or "[]")
    except (ValueError, RecursionError) as problem:
        raise Invalid("The mentions came broken. Choose them again.") from problem
    return found if isinstance(found, list) else []


def _stop_open_turn(request: MemberRequest, document_id: str, thread_id: str) -> None:
    """Stop what runs in the thread and wait for its end, which comes within a second."""
    found = get_thread(actor=request.actor, document_id=document_id, thread_id=thread_id)
    standing = found.turns.filter(status__in=Turn.OPEN).first()
    if standing is None:
        return
    services.cancel_turn(actor=request.actor, document_id=document_id, turn_id=standing.pk)
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until:
        standing.refresh_from_db(fields=["status"])
        if standing.status in FINAL:
            return
        time.sleep(0.05)


def _decide_edited(request: MemberRequest, document_id: str, turn_id: str) -> HttpResponse:
    """Approve one call with changed arguments; what has to be mended comes back in the same form."""
    turn = get_turn(actor=request.actor, turn_id=turn_id, document_id=document_id)
    call = next((row for row in turn.tool_calls.all() if row.call_id == request.POST.get("call")), None)
    if call is None:
        raise TurnNotFound()
    form = read_form(call.name, ordered_arguments(call), request.POST)
    if not form.problems:
        decision = Decision(
            call_id=call.call_id,
            approved=True,
            arguments=form.arguments,
            arguments_hash=request.POST.get("hash") or None,
        )
        try:
            services.decide(actor=request.actor, document_id=document_id, turn_id=turn_id, decisions=[decision])
        except ArgumentsRefused as problem:
            form = edit_form(call.name, form.arguments, problems=[str(problem)])
        else:
            return _decided(request, turn_id, [call.call_id])
    response = _call_fragment(request, "agent/_edit.html", turn, call, {"form": form}, status=422)
    response["HX-Retarget"] = f"#body-{call_dom_id(turn.pk.hex, call.call_id)}"
    response["HX-Reswap"] = "innerHTML"
    return response


def _allow(request: MemberRequest, document_id: str, turn_id: str, call_id: str) -> None:
    """Make the standing rule that the card spelled out."""
    turn = get_turn(actor=request.actor, turn_id=turn_id, document_id=document_id)
    call = next((row for row in turn.tool_calls.all() if row.call_id == call_id), None)
    days = request.POST.get("days", "1")
    if call is None or days not in map(str, RULE_DAYS):
        raise Invalid("Choose for how long this is allowed.")
    services.create_standing_rule(
        actor=request.actor,
        tool=call.name,
        until=timezone.now() + timedelta(days=int(days)),
        document_id=None if request.POST.get("scope") == "organization" else document_id,
    )


def _decided(request: MemberRequest, turn_id: str, call_ids: list[str]) -> HttpResponse:
    """What is decided is shown at once, socket or not."""
    view = one_turn_view(actor=request.actor, turn=get_turn(actor=request.actor, turn_id=turn_id))
    count = render_to_string(
        "agent/_waiting_count.html", {"count": count_waiting(actor=request.actor), "oob": True}, request=request
    )
    return _fresh(HttpResponse(decided_html(view, call_ids) + count))


def _call(request: MemberRequest, document_id: str, call_id: str) -> tuple[ToolCall, Turn]:
    call = get_tool_call(actor=request.actor, call_row_id=call_id)
    return call, get_turn(actor=request.actor, turn_id=call.turn_id, document_id=document_id)


def _call_fragment(
    request: MemberRequest, template: str, turn: Turn, call: ToolCall, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    view = turn_view(turn, actor=request.actor)
    found = {"turn": view, "call": view.call(call.call_id), **context}
    return _fresh(render(request, template, found, status=status))


def _not_sent(request: MemberRequest, context: dict[str, Any]) -> HttpResponse:
    response = render(request, "agent/_open_turn.html", context, status=422)
    response["HX-Reswap"] = "none"
    return _fresh(response)


def _panel(request: MemberRequest, document_id: str, found: Thread | None) -> HttpResponse:
    document = get_document(actor=request.actor, document_id=document_id)
    context = panel_context(actor=request.actor, document=document, thread=found, head=request.GET.get("head", ""))
    return _fresh(render(request, "agent/panel.html", context))


def _fresh(response: HttpResponse) -> HttpResponse:
    """Fragments of a conversation are never served from a cache."""
    response["Cache-Control"] = "no-store"
    return response
