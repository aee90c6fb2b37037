"""What the Agent tab needs to draw itself: the thread with its turns, the other threads, models, permissions.

The stream of the newest turn is read before its rows: whatever is told in between is then either in the rows or comes
again over the socket, never lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from agent.call_lines import plain_name
from agent.models import StandingRule, Thread, Turn
from agent.policy import never_auto_approved
from agent.render import status_context
from agent.selectors import branches, get_turn, list_standing_rules, list_threads, live_text, thread_turns
from agent.turn_view import LiveRound, TurnView, turn_view
from core.ids import show_id
from documents.leaving import sources_of
from documents.models import Document
from llm.catalog import chat_models, require_chat_model
from organizations.actor import Actor

UNREADABLE = ("uploaded", "ocr_processing", "ocr_failed")
SHOWN_THREADS = 60


@dataclass(frozen=True, slots=True)
class ThreadItem:
    hex: str
    title: str
    shared: bool
    waits: bool


@dataclass(slots=True)
class ThreadGroup:
    """Threads of one age."""

    label: str
    threads: list[ThreadItem] = field(default_factory=list)


def panel_context(*, actor: Actor, document: Document, thread: Thread | None, head: str = "") -> dict[str, Any]:
    """Everything of the tab."""
    about = sources_of(document.pk)
    model = require_chat_model(None, about=about) if about.local_only or not (thread and thread.model) else thread.model
    hex_id = show_id(thread.pk) if thread else ""
    document_hex = show_id(document.pk)
    models = chat_models()
    return {
        **thread_context(actor=actor, document=document, thread=thread, head=head),
        "thread_title": thread.title if thread else "New conversation",
        "thread_is_mine": bool(thread and (thread.author_id == actor.user_id or actor.is_admin)),
        "thread_groups": grouped(list_threads(actor=actor, document_id=document.pk)[:SHOWN_THREADS]),
        "socket_url": f"/ws/documents/{document_hex}/threads/{hex_id}" if thread else "",
        "models": models,
        "chosen_model": model,
        "kept_here": about.local_only,
        "offline_model": next((item.is_offline for item in models if item.name == model), False),
        "ceiling": ", ".join(sorted(plain_name(name).lower() for name in never_auto_approved())),
        "rules": [_rule(rule) for rule in list_standing_rules(actor=actor)[:20]],
    }


def thread_context(*, actor: Actor, document: Document, thread: Thread | None, head: str = "") -> dict[str, Any]:
    """The conversation alone: what a page fetches again after a gap."""
    turns = turn_views(actor=actor, thread=thread, head=head) if thread else []
    last = turns[-1] if turns else None
    return {
        "document_hex": show_id(document.pk),
        "thread": thread,
        "thread_hex": show_id(thread.pk) if thread else "",
        "turns": turns,
        "last_turn": last,
        "readable": document.state not in UNREADABLE,
        "reading_failed": document.state == "ocr_failed",
        **status_context(last),
    }


def turn_views(*, actor: Actor, thread: Thread, head: str = "") -> list[TurnView]:
    """The turns of the branch that is shown, each as this person sees it."""
    newest = thread.turns.order_by("-created_at", "-id").first()
    live = live_text(turn=newest) if newest else None
    chosen = get_turn(actor=actor, turn_id=head) if head else None
    views = []
    for turn in thread_turns(thread=thread, head=chosen):
        is_live = live is not None and newest is not None and turn.pk == newest.pk
        rounds = _live_rounds(live.texts, live.thoughts) if live and is_live and turn.status == "running" else []
        views.append(turn_view(turn, actor=actor, live=rounds, seq=live.seq if live and is_live else None))
    return views


def one_turn_view(*, actor: Actor, turn: Turn) -> TurnView:
    """One turn with what is being said right now."""
    live = live_text(turn=turn)
    fresh = get_turn(actor=actor, turn_id=turn.pk)
    rounds = _live_rounds(live.texts, live.thoughts) if fresh.status == "running" else []
    return turn_view(fresh, actor=actor, live=rounds, seq=live.seq)


def earlier_versions(turn: Turn) -> list[str]:
    """The turns that were asked at the same place, oldest first."""
    return [show_id(row.pk) for row in branches(turn=turn)]


def grouped(threads: Iterable[Thread], *, now: datetime | None = None) -> list[ThreadGroup]:
    """Today, yesterday, this week, older: only groups that have threads."""
    today = timezone.localtime(now or timezone.now()).date()
    groups = [ThreadGroup(label) for label in ("Today", "Yesterday", "This week", "Older")]
    for thread in threads:
        days = (today - timezone.localtime(thread.updated_at).date()).days
        age = max(days, 0) if days < 2 else 2 if days < 7 else 3
        waits = bool(getattr(thread, "is_waiting", False))
        groups[age].threads.append(ThreadItem(show_id(thread.pk), thread.title, thread.shared, waits))
    return [group for group in groups if group.threads]


def _live_rounds(texts: dict[int, str], thoughts: dict[int, str]) -> list[LiveRound]:
    return [LiveRound(index, texts.get(index, ""), thoughts.get(index, "")) for index in sorted({*texts, *thoughts})]


def _rule(rule: StandingRule) -> dict[str, Any]:
    where = f"on {rule.document.name}" if rule.document else "on every document"
    return {"hex": show_id(rule.pk), "label": plain_name(rule.tool), "where": where, "until": rule.until}
