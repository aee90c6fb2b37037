"""Events and turns as HTML: every type has its fragment, nothing hostile gets through."""

import typing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent import events
from agent.markdown import to_html
from agent.render import ENDED, event_html, header, needs_turn, round_opened_html
from agent.selectors import get_turn
from agent.turn_view import TurnView, duration_words, sentence_parts, turn_view
from tests.agent.rows import INVOICE, add_call, add_message, make_thread, make_turn, waiting_turn
from tests.agent.staging import make_document
from tests.conftest import Person

HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
TURN = "a" * 32


@pytest.fixture
def turn(alice: Person) -> TurnView:
    document = make_document(alice.actor)
    row = make_turn(make_thread(alice.actor, document), alice.actor, question=HOSTILE)
    message = add_message(row, "assistant", HOSTILE, thinking=HOSTILE, thinking_ms=2100)
    add_call(message, "get_ocr_text", {"page_num": 1}, status="done", result={"text": HOSTILE}, duration_ms=120)
    add_call(message, "no_such_tool<b>", {}, status="failed", result={"error": HOSTILE})
    add_call(
        message, "create_schema", {"name": HOSTILE, "response_format": INVOICE}, call_id='"><script>', tainted=True
    )
    return turn_view(get_turn(actor=alice.actor, turn_id=row.pk), actor=alice.actor)


def examples(turn: TurnView) -> list[events.Event]:
    """One event of each type."""
    call = events.CallShown(id='"><script>', name="create_schema", arguments="{}")
    return [
        events.TurnStarted(turn_id=turn.hex, thread_id=None, model="m"),
        events.AssistantTextChunk(chunk=HOSTILE, round_index=0),
        events.ThinkingChunk(chunk=HOSTILE, round_index=0),
        events.AssistantTextDone(full_text=HOSTILE, round_index=0),
        events.ThinkingDone(thinking=HOSTILE, round_index=0),
        events.ToolCalls(round_index=0, tool_calls=(call,)),
        events.ToolResult(round_index=0, call_id='"><script>', name="create_schema", success=True, result="{}"),
        events.RoundExecuted(round_index=0, thinking=None, tool_calls=()),
        events.ApprovalRequired(turn_id=turn.hex, tool_calls=(call,), expires_at=datetime.now(UTC)),
        events.Done(result=events.TurnResult(text=HOSTILE)),
        events.ErrorEvent(error=HOSTILE, code="x"),
    ]


def test_every_event_has_a_fragment_that_swaps_by_id_and_escapes_hostile_text(turn: TurnView) -> None:
    shown = examples(turn)
    assert {type(event) for event in shown} == set(typing.get_args(events.Event))
    for event in shown:
        html = event_html(event, turn_hex=turn.hex, turn=turn if needs_turn(event) else None)
        assert "hx-swap-oob" in html, event.type
        assert "<script" not in html, event.type
        assert "<img" not in html, event.type


def test_only_pieces_of_text_are_drawn_without_the_stored_turn(turn: TurnView) -> None:
    assert [event.type for event in examples(turn) if not needs_turn(event)] == [
        "assistant_text_chunk",
        "thinking_chunk",
        "assistant_text_done",
        "thinking_done",
    ]


def test_a_chunk_keeps_its_spaces(turn: TurnView) -> None:
    html = event_html(events.AssistantTextChunk(chunk=" two words ", round_index=3), turn_hex=TURN)
    assert html == f'<div hx-swap-oob="beforeend:#text-{TURN}-3"> two words </div>'


def test_a_round_that_opens_has_the_ids_that_later_fragments_name(turn: TurnView) -> None:
    html = round_opened_html(TURN, 2)
    for part in ("round", "think", "thought", "text", "calls"):
        assert f'id="{part}-{TURN}-2"' in html
    assert f'id="thought-{TURN}-2"></div>' in html, "an empty thought must stay empty: the page hides it by that"


def test_the_page_and_the_fragments_draw_the_same_card(turn: TurnView) -> None:
    call = turn.waiting[0]
    whole = event_html(examples(turn)[0], turn_hex=turn.hex, turn=turn)
    alone = event_html(examples(turn)[6], turn_hex=turn.hex, turn=turn)
    inner = alone.split("<section", 1)[1].rsplit("</section>", 1)[0]
    assert f'id="call-{call.dom_id}"' in whole
    assert " ".join(inner.split()) in " ".join(whole.split())


def test_somebody_who_may_not_decide_gets_no_buttons(alice: Person, turn: TurnView) -> None:
    watched = replace(turn, may_decide=False, may_open=False)
    html = event_html(examples(turn)[6], turn_hex=turn.hex, turn=watched)
    assert "Approve" not in html
    assert "or an administrator decides this" in html


@pytest.mark.parametrize("status", [*ENDED, "running", "waiting"])
def test_each_end_of_a_turn_says_what_happened(alice: Person, status: str) -> None:
    document = make_document(alice.actor)
    row = make_turn(make_thread(alice.actor, document), alice.actor, status=status, error_message="No key.")
    view = turn_view(get_turn(actor=alice.actor, turn_id=row.pk), actor=alice.actor)
    html = event_html(events.Done(result=events.TurnResult(text="")), turn_hex=view.hex, turn=view)
    words = {
        "failed": "No key.",
        "interrupted": "The server stopped",
        "cancelled": "Stopped.",
        "expired": "Nobody decided in time",
        "running": "Working…",
        "waiting": "Waiting for you",
        "done": "Show what was sent",
    }
    assert words[status] in html
    assert ("Try again" in html) == (status in ("failed", "interrupted"))


def test_a_write_that_is_not_decided_is_no_card_before_the_turn_waits(alice: Person) -> None:
    row = waiting_turn(alice.actor, make_document(alice.actor))
    row.status = "running"
    row.save()
    view = turn_view(get_turn(actor=alice.actor, turn_id=row.pk), actor=alice.actor)
    assert [call.state for item in view.rounds for call in item.calls] == ["proposed"]


def test_headers_name_turn_and_numbers() -> None:
    assert header(TURN, 3, 4) == f"<!--turn {TURN} 3 4-->"


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("![x](https://evil.example/x.png)", "<img"),
        ("[x](javascript:alert(1))", "href"),
        ("[x](https://evil.example/?q=secret)", "href"),
        ("<https://evil.example/auto>", "href"),
        ("[x](doc:../../admin)", "href"),
        ("<a href='https://evil.example'>x</a>", "<a "),
        ("<style>*{display:none}</style>", "<style"),
        ("| a |\n|---|\n| <iframe src=x> |", "<iframe"),
        ("```diff\n+<b onclick=x>\n```", "<b "),
    ],
)
def test_markdown_of_a_model_cannot_load_run_or_lead_outside(text: str, never: str) -> None:
    assert never not in to_html(text)


def test_links_to_our_things_lead_to_our_pages() -> None:
    html = to_html(f"See [it](doc:{'b' * 32}) and **bold**.")
    assert f'<a href="/documents/{"b" * 32}">it</a>' in html
    assert "<strong>bold</strong>" in html


def test_diff_blocks_are_shown_as_diffs() -> None:
    html = to_html("```diff\n+ new\n- old\n  same\n```")
    assert '<span class="added">+ new</span>' in html
    assert '<span class="removed">- old</span>' in html


def test_names_in_a_sentence_stand_out() -> None:
    assert [(part.text, part.is_name) for part in sentence_parts("Create schema *A* with 2 fields")] == [
        ("Create schema ", False),
        ("“A”", True),
        (" with 2 fields", False),
    ]


def test_durations_are_read_at_a_glance() -> None:
    assert [duration_words(ms) for ms in (None, 90, 2_100, 12_400, 130_000)] == ["", "0.1 s", "2.1 s", "12 s", "2 min"]
