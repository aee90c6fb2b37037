"""The client against providers that fail: what is tried again, what is told, what is kept."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from llm import client, errors
from llm.sources import NO_DOCUMENT
from tests.fakes.fixtures import ANTHROPIC_KEY, OPENAI_KEY
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Call, Fault, Step
from tests.llm.conftest import ANTHROPIC, OPENAI, QUESTION, ask, tool

pytestmark = pytest.mark.usefixtures("way")
SECRET = "Jane Roe owes 4711"  # stands for document text that a provider quotes in its error
ANSWER = Step(text="Here it is after all.")


def _status(status: int, **more: Any) -> Step:
    return Step(fault=Fault("status", status=status, message=SECRET, **more))


async def _fails(kind: type[errors.ModelError], model: str, **kwargs: Any) -> errors.ModelError:
    with pytest.raises(errors.ModelError) as caught:
        await ask(model, **kwargs)
    assert type(caught.value) is kind
    assert SECRET not in caught.value.detail
    assert OPENAI_KEY not in caught.value.detail
    assert ANTHROPIC_KEY not in caught.value.detail
    return caught.value


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("fault", [Fault("status", status=429), Fault("status", status=500),
                                   Fault("status", status=529), Fault("hang_up")])  # fmt: skip
async def test_a_failure_before_the_first_chunk_is_tried_again(
    fake_provider: FakeProvider, either_model: str, fault: Fault
) -> None:
    fake_provider.add(Step(fault=fault), Step(fault=fault), ANSWER)
    _, completion = await ask(either_model)
    assert completion.text == ANSWER.text
    assert len(fake_provider.received) == 3


@pytest.mark.usefixtures("no_pauses")
async def test_after_three_more_tries_the_error_is_told(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(*[_status(500)] * 4)
    error = await _fails(errors.ModelFailed, either_model)
    assert error.retryable
    assert "HTTP 500" in error.detail
    assert len(fake_provider.received) == 4


@pytest.mark.usefixtures("no_pauses")
async def test_the_provider_says_how_long_to_wait(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(_status(429, retry_after="0.3"), ANSWER)
    await ask(either_model)
    first, second = fake_provider.received
    assert 0.3 <= second.at - first.at < 1.5


async def test_a_provider_that_wants_minutes_gets_its_error_shown(fake_provider: FakeProvider) -> None:
    fake_provider.add(_status(429, retry_after="120"))
    error = await _fails(errors.ModelBusy, OPENAI)
    assert error.retry_after == 120
    assert error.retryable


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (_status(401), errors.ModelKeyRefused),
        (_status(403), errors.ModelKeyRefused),
        (_status(402), errors.ModelOutOfCredit),
        (_status(404, error_code="model_not_found"), errors.ModelNotFound),
        (_status(400, error_code="invalid_function_parameters"), errors.ModelRequestRefused),
    ],
)
async def test_a_refusal_is_told_at_once(
    fake_provider: FakeProvider, either_model: str, step: Step, kind: type[errors.ModelError]
) -> None:
    fake_provider.add(step)
    error = await _fails(kind, either_model)
    assert not error.retryable
    assert len(fake_provider.received) == 1


async def test_a_refusal_carries_the_machine_readable_word_of_the_provider(fake_provider: FakeProvider) -> None:
    fake_provider.add(_status(400, error_type="invalid_request_error", error_code="unsupported_parameter"))
    error = await _fails(errors.ModelRequestRefused, OPENAI)
    assert error.detail.endswith("(HTTP 400, unsupported_parameter)")


async def test_a_context_that_is_too_long_is_called_so(fake_provider: FakeProvider) -> None:
    too_long = "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000"
    fake_provider.add(Step(fault=Fault("status", status=400, message=too_long, error_code="context_length_exceeded")))
    await _fails(errors.ModelContextTooLong, OPENAI)
    fake_provider.add(Step(fault=Fault("status", status=400, message="prompt is too long: 210000 tokens > 200000 max",
                                       error_type="invalid_request_error")))  # fmt: skip
    await _fails(errors.ModelContextTooLong, ANTHROPIC)


@pytest.mark.usefixtures("no_pauses")
async def test_nobody_listening_is_an_error_of_the_connection(
    settings: Any, warm_litellm: None, either_model: str
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: refused, and nobody else gets the port
        base = f"http://127.0.0.1:{unused.getsockname()[1]}"
        settings.MODEL_PROVIDER_KEYS = {"openai": OPENAI_KEY, "anthropic": ANTHROPIC_KEY}
        settings.MODEL_API_BASES = {"openai": base, "anthropic": base}
        error = await _fails(errors.ModelUnreachable, either_model)
    assert error.retryable


async def test_a_server_that_does_not_accept_is_left_after_the_connect_timeout(
    settings: Any, warm_litellm: None, either_model: str
) -> None:
    settings.MODEL_CONNECT_SECONDS, settings.MODEL_RETRIES = 0.3, 0
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [_knock(full.getsockname()) for _ in range(3)]  # the queue is full: more get no answer
        base = f"http://127.0.0.1:{full.getsockname()[1]}"
        settings.MODEL_API_BASES = {"openai": base, "anthropic": base}
        started = time.monotonic()
        await _fails(errors.ModelUnreachable, either_model)
        assert time.monotonic() - started < 3
        for knock in waiting:
            knock.close()


@pytest.mark.parametrize("kind", ["slow_first", "slow_headers"])
async def test_a_first_chunk_that_does_not_come_ends_in_a_timeout(
    fake_provider: FakeProvider, settings: Any, either_model: str, kind: Any
) -> None:
    settings.MODEL_FIRST_CHUNK_SECONDS = 0.2
    fake_provider.add(Step(text="late", fault=Fault(kind, seconds=5)))
    error = await _fails(errors.ModelTimeout, either_model)
    assert error.retryable
    assert await asyncio.to_thread(fake_provider.wait_gone)


async def test_a_pause_between_chunks_ends_in_a_timeout_that_keeps_what_was_said(
    fake_provider: FakeProvider, settings: Any, either_model: str
) -> None:
    settings.MODEL_CHUNK_SECONDS = 0.2
    fake_provider.add(
        Step(text="Half of the answer, and then much more of it all", fault=Fault("slow_between", after=5, seconds=5))
    )
    error = await _fails(errors.ModelTimeout, either_model)
    assert error.retryable
    assert error.partial
    assert error.partial.text.startswith("Half of the ")


@pytest.mark.parametrize("fault", [Fault("cut", after=5), Fault("end_early", after=5), Fault("garbage", after=5)])
async def test_a_stream_that_breaks_in_the_middle_is_not_tried_again_and_keeps_what_was_said(
    fake_provider: FakeProvider, either_model: str, fault: Fault
) -> None:
    fake_provider.add(Step(text="Half of the answer, and then much more of it all", fault=fault))
    said: list[Any] = []
    with pytest.raises(errors.ModelStreamBroken) as caught:
        await _collect(said, either_model)
    assert caught.value.retryable
    assert caught.value.partial
    assert caught.value.partial.text == "".join(item.text for item in said)
    assert caught.value.partial.text.startswith("Half of the ")
    assert len(fake_provider.received) == 1


@pytest.mark.parametrize("kind", ["empty_choices", "not_a_stream"])
async def test_an_answer_without_content_is_an_error(fake_provider: FakeProvider, kind: Any) -> None:
    fake_provider.add(Step(text="never said", fault=Fault(kind)))
    error = await _fails(errors.ModelReplyEmpty, OPENAI)
    assert error.retryable


async def test_text_that_reached_the_limit_is_kept_and_says_so(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(text="The first half", finish="length"))
    _, completion = await ask(either_model)
    assert (completion.text, completion.finish_reason) == ("The first half", "length")


async def test_a_call_or_a_structure_that_was_cut_off_is_an_error(
    fake_provider: FakeProvider, either_model: str
) -> None:
    fake_provider.add(Step(calls=(Call("read", '{"a": 1, "b": "unfini', "c1"),), finish="length"))
    await _fails(errors.ModelReplyCut, either_model, tools=[tool("read")])
    fake_provider.add(Step(structured=True, text='{"total": 12', finish="length"))
    schema = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"],
              "additionalProperties": False}  # fmt: skip
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}
    error = await _fails(errors.ModelReplyCut, either_model, response_format=wanted)
    assert error.partial
    assert error.partial.text == '{"total": 12'


async def test_nothing_secret_is_logged(
    fake_provider: FakeProvider, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    fake_provider.add(_status(400), Step(text=SECRET, calls=(Call("read", {"a": SECRET}),)))
    await _fails(errors.ModelRequestRefused, OPENAI)
    await ask(OPENAI, tools=[tool("read")], messages=[{"role": "user", "content": SECRET}])
    out, err = capfd.readouterr()
    logged = caplog.text + out + err
    assert "model_call.finished" in logged
    assert SECRET not in logged
    assert OPENAI_KEY not in logged


def test_the_fake_itself_fails_on_what_is_left_and_on_what_is_unforeseen() -> None:
    with pytest.raises(AssertionError, match="never asked for"), FakeProvider([ANSWER]):
        pass
    with pytest.raises(AssertionError, match="no step is left"), FakeProvider() as fake:
        _post(fake.port)


def test_the_fake_serves_a_script_as_a_process(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Fine.", "calls": [{"name": "read"}], "fault": {"kind": "status"}}]))
    command = [sys.executable, "-m", "tests.fakes.provider", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = int(process.stdout.readline().removeprefix("ready "))
        _post(port, b"HTTP/1.1 500")
        process.terminate()


async def _collect(said: list[Any], model: str) -> None:
    async for item in client.stream(model=model, messages=QUESTION, about=NO_DOCUMENT):
        said.append(item)


def _post(port: int, answer: bytes = b"HTTP/1.1 400") -> None:
    body = json.dumps({"model": "m", "messages": []}).encode()
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        assert plain.recv(100).startswith(answer)


def _knock(address: tuple[str, int]) -> socket.socket:
    knock = socket.socket()
    knock.setblocking(False)
    knock.connect_ex(address)
    return knock
