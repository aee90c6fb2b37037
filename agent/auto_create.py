"""The agent at work without a person: a document was uploaded with auto-create, and its text is ready.

A worker's thread claims the run, begins an ordinary thread with an ordinary turn, and waits for it; what the turn may
do is `agent.headless`'s. The turn is the log that people replay. Crash and stop: the next claim ends the turn of the
one before, so that it writes nothing any more, and takes away what that made; then it begins anew.
"""

import uuid
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

import agent.tools  # noqa: F401 - fills the toolbox
from agent import runner
from agent.driving import Loaded
from agent.endings import interrupt, tell_on_commit
from agent.headless import headless_judge, headless_limits, headless_toolbox
from agent.leases import claim as claim_turn
from agent.leases import lock_seen_turn
from agent.logbook import log_turn
from agent.messages import Transcript
from agent.models import Thread, Turn
from agent.setup import Tally
from agent.toolbox import ToolContext
from agent.transcript import append_question
from core.errors import DomainError
from core.ids import show_id
from documents import auto_create
from documents.auto_create import Claim, Failure
from documents.clearing import clear_made
from documents.errors import ProposalStopped
from documents.fitting import fitting_prompt, fitting_schema
from documents.leaving import sources_of
from documents.reusing import take_back_reused
from llm.catalog import require_chat_model
from llm.sources import is_remote
from organizations.services import record

log = structlog.get_logger(__name__)

TITLE = "Auto-create"
MESSAGE = (
    "Analyze this document. Create a schema that captures the key, repeatable fields for documents like this — focus "
    "on fields that would be uniform across similar documents, not every detail. Then create a prompt for extracting "
    "those fields, and run the extraction."
)
REUSE = "A schema that fits is mentioned here: use it instead of creating another one."
REUSE_BOTH = (
    "A schema that fits and a prompt that uses it are mentioned here: create neither, but run the extraction with "
    "that prompt."
)
_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 10.0


def propose(run_id: uuid.UUID) -> None:
    """Work on a propose run until it ends; for a worker's thread. Does nothing for a run that needs nobody.

    However it ends, it stands on the document: proposed, or failed with the reason.
    """
    claim = auto_create.claim_proposal(run_id=run_id)
    if claim is None:
        return
    try:
        loaded = _begin(claim)
        failure = _watch(claim, loaded.turn.pk, runner.launch_new(loaded))
        _end(claim, loaded.turn.pk, failure)
    except ProposalStopped:
        log.info("auto_create.not_ours", run_id=show_id(run_id))
    except DomainError as problem:
        auto_create.end_proposal(claim=claim, failure=_failure_of(problem))


@transaction.atomic
def _begin(claim: Claim) -> Loaded:
    """Clear the ground, and store and claim the turn. Raises: ProposalStopped, and what is wrong with the document."""
    run, attempt = auto_create.lock_held(claim)
    if attempt.turn_id is not None:
        _fence_off(attempt.turn_id)
    clear_made(actor=claim.actor, run=run)
    take_back_reused(actor=claim.actor, run=run, attempt=attempt)
    claim, question, mentions = _reusing(claim)
    turn = _store_turn(claim, mentions)
    append_question(turn, question)
    auto_create.attach_turn(claim=claim, thread_id=turn.thread_id, turn_id=turn.pk)
    turn.epoch = claim_turn(turn.pk)
    log_turn(turn, "started", actor=claim.actor)
    tally = Tally()
    return Loaded(
        turn=turn,
        transcript=Transcript(question=question),
        context=_context(claim, turn),
        toolbox=headless_toolbox(),
        tally=tally,
        seq=0,
        limits=headless_limits(),
        judge=headless_judge(tally, partial(auto_create.extractions_cost, claim.run_id)),
    )


def _reusing(claim: Claim) -> tuple[Claim, str, list[dict[str, Any]]]:
    """Look for a schema that fits, and a prompt for it. Returns: the claim that may run it, question and mentions."""
    schema = fitting_schema(actor=claim.actor, document_id=claim.document_id)
    if schema is None:
        return claim, MESSAGE, []
    mentions = [{"type": "schema", "id": show_id(schema.pk)}]
    prompt = fitting_prompt(actor=claim.actor, document_id=claim.document_id, schema=schema)
    if prompt is None:
        return claim, f"{MESSAGE}\n\n{REUSE}", mentions
    mentions.append({"type": "prompt", "id": show_id(prompt.pk)})
    return replace(claim, actor=replace(claim.actor, reuses=prompt.pk)), f"{MESSAGE}\n\n{REUSE_BOTH}", mentions


def _store_turn(claim: Claim, mentions: list[dict[str, Any]]) -> Turn:
    """A thread that every member sees, with its first turn."""
    actor, model = claim.actor, require_chat_model(None, about=sources_of(claim.document_id))
    place = {"organization_id": actor.organization_id, "document_id": claim.document_id, "author_id": actor.user_id}
    thread = Thread.objects.create(**place, title=TITLE, renamed=True, shared=True, model=model)
    turn = Turn.objects.create(
        **place,
        thread=thread,
        actor_name=actor.name,
        via=actor.via,
        model=model,
        auto_approve=True,
        mentions=mentions,
        working_state={"schema_revid": None, "prompt_revid": None},
    )
    record(actor=actor, action="turn.started", target=("turn", turn.pk), data={"document": show_id(claim.document_id)})
    return turn


def _context(claim: Claim, turn: Turn) -> ToolContext:
    return ToolContext(
        actor=claim.actor,
        document_id=show_id(claim.document_id),
        thread_id=show_id(turn.thread_id) if turn.thread_id else None,
        turn_id=show_id(turn.pk),
        working_state=dict(turn.working_state),
        now=timezone.now(),
        headless=True,
        is_remote=is_remote(turn.model),
    )


def _watch(claim: Claim, turn_id: uuid.UUID, ended: "Future[None]") -> Failure | None:
    """Wait for the turn, keep the claim, stop it when its time is over or nobody wants it. Returns: why it was stopped.

    No database connection is held in the meantime.
    """
    deadline = monotonic() + settings.AUTO_CREATE_SECONDS
    look = min(_LOOK_SECONDS, settings.RUN_LEASE_SECONDS / 3)
    failure: Failure | None = None
    while not ended.done() and failure is None:
        connections.close_all()
        wait([ended], timeout=max(min(look, deadline - monotonic()), 0.01))
        if not auto_create.keep_claim(claim):
            failure = Failure("cancelled", "Stopped.")
        elif monotonic() >= deadline:
            failure = Failure(
                "took_too_long", f"The agent did not end within {settings.AUTO_CREATE_SECONDS:g} seconds."
            )
    if not ended.done():
        runner.stop_here(turn_id)
        wait([ended], timeout=_PATIENCE_SECONDS)
    else:
        failure = None
    return failure


def _end(claim: Claim, turn_id: uuid.UUID, failure: Failure | None) -> None:
    """Look how the turn ended, and write down what that means for the document."""
    with transaction.atomic():
        turn = lock_seen_turn(turn_id)
        if turn.status == Turn.Status.RUNNING:  # it did not listen: from here on it cannot write any more
            _fence_off(turn_id)
        elif turn.status == Turn.Status.INTERRUPTED and failure is None:
            auto_create.release(claim=claim)  # this process is about to end; another one begins anew
            return
    auto_create.end_proposal(claim=claim, failure=failure or _failure_of_turn(turn), cost=turn.cost_usd)


def _failure_of_turn(turn: Turn) -> Failure | None:
    if turn.status == Turn.Status.FAILED:
        return Failure(turn.error_code, turn.error_message, turn.retryable)
    if turn.status == Turn.Status.CANCELLED:
        return Failure("cancelled", "Stopped.")
    return None


def _failure_of(problem: DomainError) -> Failure:
    return Failure(problem.error_code, problem.detail, bool(getattr(problem, "retryable", False)))


def _fence_off(turn_id: uuid.UUID) -> None:
    """End a turn whatever process runs it: its writes are refused from now on."""
    turn = Turn.objects.select_for_update().filter(pk=turn_id, status=Turn.Status.RUNNING).first()
    if turn is not None:
        turn.epoch += 1
        tell_on_commit(turn, interrupt(turn))
