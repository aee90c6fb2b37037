"""A model that has gone mad or speaks for a hostile document: nothing breaks, grows without bound or reaches a page."""

import json
import time

import pytest

from agent.loop import MAX_CALLS
from agent.markdown import MAX_CHARS, to_html
from agent.models import ToolCall
from agent.services import start_turn
from agent.toolbox import MAX_ARGUMENT_CHARS
from llm.types import Completion
from tests.agent.rows import make_thread
from tests.agent.scripted import asks, says, stage
from tests.agent.staging import make_document, put_on_stage, waits_for
from tests.conftest import Person

HUGE = 10_000_000


async def test_arguments_of_ten_megabytes_are_neither_kept_nor_sent_back() -> None:
    play = stage(asks(("x", "look", json.dumps({"page_num": "9" * HUGE}))), says("ok"))
    await play.play()
    (call,) = play.keeper.rounds[0].calls
    assert call.result is not None
    assert call.result["code"] == "invalid_arguments"
    assert len(call.arguments_text) <= MAX_ARGUMENT_CHARS
    assert len(str(play.model.sent[1])) < 10_000


async def test_of_two_hundred_calls_the_first_fifty_run_and_each_has_its_result() -> None:
    play = stage(asks(*((f"c{number}", "look", "{}") for number in range(200))), says("ok"))
    await play.play()
    results = [call.result or {} for call in play.keeper.rounds[0].calls]
    assert len(play.ran) == MAX_CALLS
    assert [result.get("code") for result in results[MAX_CALLS:]] == ["too_many_calls"] * 150
    assert len([message for message in play.model.sent[1] if message["role"] == "tool"]) == 200


async def test_of_two_hundred_writes_a_person_is_asked_about_fifty() -> None:
    play = stage(asks(*((f"c{number}", "make", f'{{"name": "{number}"}}') for number in range(200))))
    await play.play()
    assert len([call for call in play.keeper.rounds[0].calls if call.result is None]) == MAX_CALLS
    assert play.ran == []


async def test_no_choice_of_ids_makes_two_calls_one() -> None:
    ids = ("", "a", "a_0_3", "a", "a" * 400, "a" * 300, "\0a", "\ud800", "<b>", "a_0_3_", "a_0_3")
    play = stage(asks(*((call_id, "look", "{}") for call_id in ids)), says("ok"))
    await play.play()
    kept = [call.id for call in play.keeper.rounds[0].calls]
    assert len(set(kept)) == len(ids)
    assert all(0 < len(call_id) <= 200 and "\0" not in call_id for call_id in kept)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"page_num": 1e999}',
        '{"page_num": NaN}',
        '{"page_num": ' + "9" * 5000 + "}",
        '{"page_num": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"page_num": "\\u0000"}',
        '{"page_num": "\\ud800"}',
        '{"\\ud800": 1}',
        '{"page_num": 1, "page_num": "x"}',
        "[]",
        "null",
        '"text"',
        "{'page_num': 1}",
        "\0",
        "\ud800",
    ],
)
async def test_broken_arguments_are_refused_in_words(arguments: str) -> None:
    play = stage(asks(("x", "look", arguments)), says("ok"))
    await play.play()
    (call,) = play.keeper.rounds[0].calls
    assert call.result is not None
    assert call.result["code"] == "invalid_arguments"
    assert play.ran == []
    json.loads(play.model.sent[1][1]["tool_calls"][0]["function"]["arguments"])


@pytest.mark.django_db(transaction=True)
def test_what_a_mad_model_says_is_stored_and_shown_as_text(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "<x-evil onclick=a>\0\ud800'\"</script>"
    document = make_document(alice.actor)
    thread = make_thread(alice.actor, document)
    deep = json.dumps({"path": "total", "value": json.loads("[" * 150 + "]" * 150)})
    mad = Completion(
        text=evil,
        thinking=evil,
        thinking_blocks=({"type": "thinking", "thinking": evil, "signature": evil},),
        tool_calls=asks(
            (evil, evil, evil),
            ("n", "create_tag", '{"name": "a\\u0000b"}'),
            ("s", "update_document", '{"metadata": {"\\udfff": "x"}}'),
            ("d", "update_extraction_field", deep),
            ("i", "update_extraction_field", '{"path": "lines.\\u00b2", "value": 1}'),
            ("big", "list_documents", '{"skip": 99999999999999999999999999}'),
            ("low", "list_documents", '{"limit": -99999999999999999999999999}'),
            ("page", "get_ocr_text", '{"page_num": 99999999999999999999}'),
            ("sort", "list_tags", json.dumps({"sort": "[" * 9_000, "name_search": "\\", "filters": '{"items": 1}'})),
            ("w", "create_tag", json.dumps({"name": "<x-evil>", "color": "red;position:fixed;inset:0"})),
        ).tool_calls,
    )
    put_on_stage(monkeypatch, mad, says(evil))
    turn = start_turn(actor=alice.actor, document_id=document.pk, text="Go", thread_id=thread.pk)
    waits_for(turn.pk, "waiting")
    results = {row.call_id: row.result for row in ToolCall.objects.filter(turn=turn)}
    assert {key for key, result in results.items() if result is None} == {"d", "i", "w"}
    client = alice.client()
    tab = f"/documents/{document.pk.hex}/agent"
    for path in (tab, "/waiting", f"{tab}/turns/{turn.pk.hex}/sent"):
        html = client.get(path).content.decode()
        assert "<x-evil" not in html
        assert 'style="--tag: red' not in html, "a color that is more than a color"
    waiting = list(ToolCall.objects.filter(turn=turn, result__isnull=True).order_by("position"))
    form = {"call": [row.call_id for row in waiting], "hash": [row.arguments_hash for row in waiting]}
    assert client.post(f"{tab}/turns/{turn.pk.hex}/decide", form | {"decision": "approve"}).status_code == 200
    waits_for(turn.pk, "done")
    assert all(
        "error" in (row.result or {}) for row in ToolCall.objects.filter(turn=turn).exclude(name="list_documents")
    )


@pytest.mark.parametrize(
    "unit",
    ["![", "[a](", "*a_", "<"],
)
def test_no_answer_keeps_the_markdown_reader_busy(unit: str) -> None:
    text = unit * (2 * MAX_CHARS // len(unit))
    begun = time.process_time()
    to_html(text)
    assert time.process_time() - begun < 5
