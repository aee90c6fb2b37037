"""The loop with scripted models: no database, no Django."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import pytest

from agent.events import ApprovalRequired, Done, Event, ToolCalls, ToolResult, from_wire, to_text, to_wire
from agent.loop import MAX_ROUNDS_TEXT, PAUSED_TEXT, REJECTIONS_TEXT
from agent.messages import Ruling
from agent.setup import CostLimitReached, Limits
from tests.agent.scripted import always, asks, says, stage

APPROVE = Ruling(verdict="approved")
REJECT = Ruling(verdict="rejected", reason="no tables")


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def results(events: list[Event]) -> dict[str, ToolResult]:
    return {event.call_id: event for event in events if isinstance(event, ToolResult)}


def end(events: list[Event]) -> Done:
    last = events[-1]
    assert isinstance(last, Done)
    return last


async def test_an_answer_without_calls_streams_and_is_done() -> None:
    play = stage(says("All done here", thinking="let me see", thinking_blocks=({"signature": "x"},)))
    events = await play.play()
    assert types(events) == [
        "turn_started",
        *["thinking_chunk"] * 3,
        *["assistant_text_chunk"] * 3,
        "thinking_done",
        "assistant_text_done",
        "done",
    ]
    assert end(events).result.text == "All done here"
    assert end(events).result.usage == {"prompt_tokens": 10, "completion_tokens": 5}
    assert play.keeper.rounds[0].thinking_blocks == ({"signature": "x"},)
    assert play.model.closed == 1


async def test_every_event_survives_a_round_trip() -> None:
    play = stage(asks(("r", "look", "{}"), ("w", "make", '{"name": "a"}')), asks(("w2", "make", '{"name": "b"}')))
    events = await play.play()
    play.keeper.decide(w=APPROVE)
    events += await play.play()
    assert len({event.type for event in events}) > 5
    for event in events:
        assert from_wire(to_wire(event)) == event == from_wire(to_text(event))


async def test_reads_run_at_once_while_a_write_waits_beside_them() -> None:
    play = stage(asks(("far", "look_far", ""), ("w", "make", '{"name": "a"}'), ("near", "look", "{}")))
    events = await play.play()
    assert play.ran == ["look 1", "look_far"]
    assert types(events) == [
        "turn_started",
        "tool_calls",
        "tool_result",
        "tool_result",
        "round_executed",
        "approval_required",
        "done",
    ]
    calls = next(event for event in events if isinstance(event, ToolCalls))
    assert [call.id for call in calls.tool_calls] == ["far", "near"]
    waiting = next(event for event in events if isinstance(event, ApprovalRequired))
    assert [(call.id, call.summary) for call in waiting.tool_calls] == [("w", "Make *a*")]
    assert end(events).result.status == "waiting"
    assert end(events).result.turn_id == "t" * 32
    assert play.keeper.log[-1] == "waits"


async def test_an_approved_write_runs_and_the_model_hears_of_it() -> None:
    play = stage(asks(("w", "make", '{"name": "a"}'), text="I will make it"), says("Made"))
    await play.play()
    assert play.ran == []
    play.keeper.decide(w=APPROVE)
    events = await play.play()
    assert play.ran == ["make a"]
    assert end(events).result.text == "Made"
    assert end(events).result.working_state["schema_revid"] == "a"
    assert [message["role"] for message in play.model.sent[1]] == ["user", "assistant", "tool"]
    assert play.model.sent[1][-1]["content"] == '{"made": "a"}'
    assert len(end(events).result.executed_rounds) == 1


async def test_nothing_of_a_batch_is_written_before_all_of_it_is_decided() -> None:
    play = stage(asks(("a", "make", '{"name": "a"}'), ("b", "make", '{"name": "b"}')), says("ok"))
    await play.play()
    play.keeper.decide(b=APPROVE)
    events = await play.play()
    assert (play.ran, end(events).result.status) == ([], "waiting")
    assert [call.id for call in end(events).result.tool_calls] == ["a"]
    play.keeper.decide(a=APPROVE)
    await play.play()
    assert play.ran == ["make a", "make b"]


async def test_a_write_that_a_rule_covers_waits_for_the_rest_of_its_batch() -> None:
    async def only_b(_name: str, arguments: dict[str, str]) -> bool:
        return arguments["name"] == "b"

    play = stage(asks(("a", "make", '{"name": "a"}'), ("b", "make", '{"name": "b"}')), says("ok"), may_run=only_b)
    events = await play.play()
    assert ([call.id for call in end(events).result.tool_calls], play.ran) == (["a"], [])
    play.keeper.decide(a=REJECT)
    events = await play.play()
    assert play.ran == ["make b"]
    assert [call.id for call in next(event for event in events if isinstance(event, ToolCalls)).tool_calls] == ["b"]


async def test_a_rejection_reaches_the_model_with_its_reason() -> None:
    play = stage(asks(("w", "make", '{"name": "a"}')), says("Understood"))
    await play.play()
    play.keeper.decide(w=REJECT)
    events = await play.play()
    assert play.ran == []
    assert results(events)["w"].success is False
    assert '"reason": "no tables"' in play.model.sent[1][-1]["content"]


async def test_an_edited_call_is_what_ran_for_the_model_too() -> None:
    play = stage(asks(("w", "make", '{"name": "a"}')), says("ok"))
    await play.play()
    play.keeper.decide(w=Ruling(verdict="approved", arguments={"name": "better"}))
    await play.play()
    assert play.ran == ["make better"]
    assert play.model.sent[1][1]["tool_calls"][0]["function"]["arguments"] == '{"name": "better"}'


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("erase", "{}", "unknown_tool"),
        ("make", "{", "invalid_arguments"),
        ("make", "{}", "invalid_arguments"),
        ("make", '{"name": 3}', "invalid_arguments"),
        ("make", '{"name": "a", "force": true}', "invalid_arguments"),
        ("make", "[" * 50_000, "invalid_arguments"),
        ("make", '{"name": "\\u0000"}', "invalid_arguments"),
    ],
)
async def test_a_call_that_cannot_succeed_is_never_shown(name: str, arguments: str, code: str) -> None:
    play = stage(asks(("w", name, arguments)), says("sorry"))
    events = await play.play()
    assert "approval_required" not in types(events)
    assert f'"code": "{code}"' in results(events)["w"].result
    assert end(events).result.text == "sorry"


async def test_a_rule_that_says_no_becomes_a_result_with_a_code() -> None:
    play = stage(asks(("w", "make", '{"name": "taken"}')), says("ok"), may_run=always)
    events = await play.play()
    assert results(events)["w"].error == "That name is taken."
    assert '"code": "name_taken"' in play.model.sent[1][-1]["content"]


async def test_a_turn_ends_after_ten_rounds() -> None:
    play = stage(*(asks((f"r{n}", "look", "{}")) for n in range(10)))
    events = await play.play()
    assert len(play.model.sent) == 10
    assert end(events).result.text == MAX_ROUNDS_TEXT


async def test_a_pause_does_not_refill_the_rounds() -> None:
    play = stage(*(asks((f"w{n}", "make", '{"name": "a"}')) for n in range(10)))
    for n in range(10):
        events = await play.play()
        assert end(events).result.status == "waiting"
        play.keeper.decide(**{f"w{n}": APPROVE})
    events = await play.play()
    assert end(events).result.text == MAX_ROUNDS_TEXT
    assert (len(play.ran), len(play.model.sent)) == (10, 10)


async def test_after_an_approve_the_model_is_called_at_most_three_times() -> None:
    reads = (asks((f"r{n}", "look", "{}")) for n in range(9))
    play = stage(asks(("w", "make", '{"name": "a"}'), text="before"), *reads)
    await play.play()
    play.keeper.decide(w=APPROVE)
    events = await play.play()
    assert len(play.model.sent) == 4
    assert play.ran == ["make a", "look 1", "look 1", "look 1"]
    assert (end(events).result.text, end(events).result.can_continue) == (PAUSED_TEXT, True)


async def test_three_rejections_in_a_row_end_the_turn_with_a_question() -> None:
    play = stage(*(asks((f"w{n}", "make", '{"name": "a"}')) for n in range(4)))
    for n in range(3):
        await play.play()
        play.keeper.decide(**{f"w{n}": REJECT})
    events = await play.play()
    assert end(events).result.text == REJECTIONS_TEXT
    assert len(play.model.sent) == 3
    assert play.keeper.rounds[-1].text == REJECTIONS_TEXT


async def test_a_write_that_was_cut_off_is_never_run_again() -> None:
    play = stage(asks(("w", "make", '{"name": "a"}')), says("I will check"))
    await play.play()
    play.keeper.decide(w=APPROVE)
    play.keeper._put(replace(play.keeper.rounds[-1].calls[0], started=True))
    events = await play.play()
    assert play.ran == []
    assert '"code": "interrupted"' in results(events)["w"].result


async def test_stop_closes_the_model_and_keeps_what_was_said() -> None:
    play = stage(says("one two three four five six"), pause=0.01)
    asyncio.get_running_loop().call_later(0.035, play.setup.stop.request)
    events = await play.play()
    assert end(events).result.status == "cancelled"
    assert play.model.closed == 1
    assert play.keeper.rounds[-1].text.startswith("one two")
    assert "six" not in play.keeper.rounds[-1].text


async def test_stop_gives_every_open_call_its_one_result() -> None:
    calls = (("p", "ponder", "{}"), ("w", "make", '{"name": "a"}'))
    play = stage(asks(*calls), may_run=always)
    asyncio.get_running_loop().call_later(0.02, play.setup.stop.request)
    events = await asyncio.wait_for(play.play(), 1)
    assert play.ran == ["ponder"]
    assert {call_id: event.error for call_id, event in results(events).items()} == {
        "p": "Cancelled by the user.",
        "w": "Cancelled by the user.",
    }
    assert [call.result is None for call in play.keeper.rounds[-1].calls] == [False, False]


async def test_somebody_elses_cancellation_is_not_taken_for_a_stop() -> None:
    play = stage(says("one two three four five six"), pause=0.05)
    task = asyncio.create_task(play.play())
    await asyncio.sleep(0.02)
    play.setup.stop.request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_model_that_breaks_in_the_middle_leaves_what_it_said() -> None:
    play = stage(RuntimeError("provider gone"))
    with pytest.raises(RuntimeError, match="provider gone"):
        await play.play()
    assert [answer.text for answer in play.keeper.rounds] == ["half an "]


async def test_the_cost_limit_stops_before_the_next_call() -> None:
    play = stage(asks(("r", "look", "{}")), says("never"), limits=Limits(cost=Decimal("0.01")))
    with pytest.raises(CostLimitReached):
        await play.play()
    assert len(play.model.sent) == 1


async def test_ids_that_repeat_are_told_apart() -> None:
    play = stage(asks(("x", "look", "{}"), ("x", "look", '{"page_num": 2}')), asks(("x", "look", "{}")), says("ok"))
    await play.play()
    ids = [call.id for answer in play.keeper.rounds for call in answer.calls]
    assert len(set(ids)) == 3


async def test_a_long_result_is_cut_for_the_model_and_says_how_to_get_the_rest() -> None:
    play = stage(asks(("r", "look", '{"page_num": 50}')), says("ok"), limits=Limits(result_chars=500))
    events = await play.play()
    content = play.model.sent[1][-1]["content"]
    assert len(content) <= 600
    assert "Ask for one page with page_num." in content
    assert len(results(events)["r"].result) > 5_000


async def test_a_whole_answer_is_kept_before_it_is_told() -> None:
    play = stage(asks(("w", "make", '{"name": "a"}')), says("ok"), may_run=always)
    await play.play()
    assert play.keeper.log == ["answered 0", "run w", "answered 1"]


def test_the_core_of_the_agent_imports_no_framework() -> None:
    code = (
        "import sys, agent.loop, agent.events, agent.messages, agent.toolbox\n"
        "bad = {'django', 'rest_framework', 'channels', 'celery', 'litellm', 'asgiref'} & set(sys.modules)\n"
        "sys.exit(str(sorted(bad)) if bad else 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
