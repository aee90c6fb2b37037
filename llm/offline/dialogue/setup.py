"""Setting up extraction: read, propose, validate, create schema and prompt, run, sum up; one step per reply."""

from dataclasses import dataclass, replace
from typing import Any

from llm.offline.dialogue.changes import apply_changes
from llm.offline.dialogue.conversation import Conversation, Step
from llm.offline.dialogue.requests import Request, read_reason
from llm.offline.dialogue.wording import counted, failed, listing, refused, summary, warned
from llm.offline.extract.reading import Reading
from llm.offline.extract.schema import inner_schema, properties_of
from llm.offline.propose.proposal import prompt_text, propose, share_found
from llm.offline.reply import Reply

VERY_WELL = 0.9
WELL_ENOUGH = 0.5
_PLAN = "I will read the document, propose a schema with the fields I find, and ask before I create anything."


@dataclass(frozen=True, slots=True)
class Plan:
    """The schema to be created (or reused, then with its id) and the notes that belong to it."""

    name: str
    response_format: dict[str, Any]
    notes: str = ""
    schema_id: str = ""
    schema_version: int | None = None
    understood: bool = True


def set_up(talk: Conversation, reading: Reading, request: Request) -> Reply:
    """The next step of the set-up."""
    if not talk.offers("create_schema", "create_prompt"):
        return Reply(text="I cannot create schemas or prompts here, because the tools for it are not offered.")
    if not talk.steps:
        return _read_first(talk)
    created = talk.succeeded("create_schema")
    plan = _from_created(created) if created else _plan(talk, reading, request)
    if not plan.schema_id:
        return _schema_step(talk, plan)
    prompt = talk.succeeded("create_prompt") or _mentioned_prompt(talk, plan)
    if prompt is None:
        return prompt_step(talk, plan, warned(created) if created else "")
    return run_step(talk, prompt, plan)


def _read_first(talk: Conversation) -> Reply:
    reads: list[tuple[str, dict[str, Any]]] = [("get_ocr_text", {}), ("list_schemas", {"limit": 100})]
    reads = [read for read in reads if talk.offers(read[0])]
    if reads:
        return talk.call("I will read the document and look at the schemas that exist.", *reads, thinking=_PLAN)
    return talk.call("I will look at which models there are.", ("list_llm_models", {}), thinking=_PLAN)


def _from_created(step: Step) -> Plan:
    """What was created: the arguments that ran, which the person may have edited."""
    arguments, result = step.arguments, step.result
    schema = arguments.get("response_format")
    name = str(result.get("name") or arguments.get("name") or "Document")
    return Plan(name, schema if isinstance(schema, dict) else {}, schema_id=str(result.get("schema_id") or ""))


def _plan(talk: Conversation, reading: Reading, request: Request) -> Plan:
    reuse = _reusable(talk, reading, asked=request.text == "reuse")
    if reuse is not None:
        return reuse
    proposal = propose(reading)
    plan = Plan(proposal.name, proposal.response_format)
    base = rejected_proposal(talk) if request.verb != "setup" else None
    if base is not None:
        plan = base
    plan = revised(plan, request)
    for step in talk.steps:
        if step.name == "create_schema" and step.rejected:
            plan = revised(_from_created(step), read_reason(step.reason))
        elif step.name == "create_schema" and "exist" in step.error:
            plan = replace(plan, name=f"{plan.name} 2")
    return plan


def rejected_proposal(talk: Conversation) -> Plan | None:
    """The newest proposal of an earlier turn that was not approved."""
    step = next((step for step in reversed(talk.earlier) if step.name == "create_schema"), None)
    return _from_created(step) if step is not None and step.rejected else None


def revised(plan: Plan, request: Request) -> Plan:
    """The plan with a person's changes."""
    if request.verb == "name_schema" and request.text:
        return replace(plan, name=request.text[:100], understood=True)
    if request.verb == "change":
        changed = apply_changes(plan.response_format, request.changes)
        notes = " ".join(changed.failed)
        if request.text:
            plan = replace(plan, name=request.text[:100])
        return replace(plan, response_format=changed.response_format, notes=notes, understood=bool(changed.done))
    return replace(plan, understood=request.verb == "go_on" or (request.verb == "setup" and not plan.schema_id))


def _reusable(talk: Conversation, reading: Reading, *, asked: bool) -> Plan | None:
    """The listed schema that fits the document: very well, or well enough when the person asked for one."""
    if any(step.name == "create_schema" for step in talk.steps):
        return None
    mentioned = talk.mentioned("schema")
    if mentioned is not None and isinstance(mentioned.get("response_format"), dict) and mentioned.get("schema_id"):
        return _plan_of(mentioned, f"You named the schema “{mentioned.get('name')}”, so I use it. ")
    listed = talk.succeeded("list_schemas")
    schemas = listed.result.get("schemas") if listed else None
    best: tuple[float, dict[str, Any]] | None = None
    for schema in schemas[:30] if isinstance(schemas, list) else []:
        fields = properties_of(inner_schema(schema.get("response_format"))) if isinstance(schema, dict) else {}
        if len(fields) >= (2 if asked else 5):
            share = share_found(schema["response_format"], reading)
            if best is None or share > best[0]:
                best = (share, schema)
    if best is None or best[0] < (WELL_ENOUGH if asked else VERY_WELL):
        return None
    share, schema = best
    count = len(properties_of(inner_schema(schema["response_format"])))
    found = f"{round(share * count)} of its {counted(count, 'field')}"
    note = f"The schema “{schema.get('name')}” fits: the document has {found}. "
    return _plan_of(schema, note)


def _mentioned_prompt(talk: Conversation, plan: Plan) -> Step | None:
    """The prompt that was named, where it uses the schema of the plan: it is run as it is."""
    named = talk.mentioned("prompt")
    if named is None or not named.get("prompt_revid") or named.get("schema_id") != plan.schema_id:
        return None
    return Step("create_prompt", {}, named, turn=0)


def _plan_of(schema: dict[str, Any], note: str) -> Plan:
    """A plan that reuses a schema as it is listed or was mentioned."""
    version = schema.get("schema_version")
    number = version if isinstance(version, int) else None
    name, schema_id = str(schema.get("name") or "Document"), str(schema.get("schema_id") or "")
    return Plan(name, schema["response_format"], note, schema_id, number)


def _schema_step(talk: Conversation, plan: Plan) -> Reply:
    last = talk.last("create_schema")
    if last is not None and last.rejected and not plan.understood:
        return Reply(text=refused(last, "Nothing was created; I keep the proposal as it was."))
    arguments = {"name": plan.name, "response_format": plan.response_format}
    if last is not None and talk.was_tried("create_schema", arguments):
        said = (
            refused(last, "Nothing was created.")
            if last.rejected
            else f"{failed(last)} Nothing was created. What should I change?"
        )
        return Reply(text=said)
    check = next(
        (s for s in talk.steps if s.name == "validate_schema" and s.arguments.get("schema") == plan.response_format),
        None,
    )
    if check is None and talk.offers("validate_schema"):
        text = (
            "I found what the document has to offer and check the schema first."
            if last is None
            else "I check the changed schema."
        )
        return talk.call(text, ("validate_schema", {"schema": plan.response_format}))
    if check is not None and not check.result.get("valid", check.done):
        return Reply(
            text=f"The schema did not pass the check: {str(check.result.get('error'))[:300]}. Nothing was created."
        )
    fields = list(properties_of(inner_schema(plan.response_format)))
    text = (
        f"This looks like: {plan.name}. I propose a schema with {counted(len(fields), 'field')}: {listing(fields, 20)}."
    )
    return talk.call(f"{text} {plan.notes}".strip(), ("create_schema", arguments))


def prompt_step(talk: Conversation, plan: Plan, notice: str) -> Reply:
    """Propose the prompt for the plan's schema."""
    last = talk.last("create_prompt")
    name = plan.name
    if last is not None and last.rejected:
        wish = read_reason(last.reason)
        if wish.verb != "name_schema" or not wish.text:
            return Reply(text=refused(last, f"The schema “{plan.name}” is there, without a prompt."))
        name = wish.text[:100]
    elif last is not None:
        return Reply(
            text=f"{failed(last)} The schema “{plan.name}” is there, without a prompt. Say “continue” to try again."
        )
    fields = properties_of(inner_schema(plan.response_format))
    arguments: dict[str, Any] = {"name": name, "content": prompt_text(plan.name, fields), "schema_id": plan.schema_id}
    if plan.schema_version is not None:
        arguments["schema_version"] = plan.schema_version
    if talk.was_tried("create_prompt", arguments):
        return Reply(text=f"The schema “{plan.name}” is there, without a prompt. What should the prompt be called?")
    return talk.call(
        f"{notice}{plan.notes}Next, a prompt that uses the schema “{plan.name}”.", ("create_prompt", arguments)
    )


def run_step(talk: Conversation, prompt: Step, plan: Plan, before: str = "") -> Reply:
    """Run the extraction with the prompt, then sum up."""
    last = talk.last("run_extraction")
    if last is None:
        revid = prompt.result.get("prompt_revid")
        arguments = {"prompt_revid": revid} if revid else {}
        if not talk.offers("run_extraction"):
            return Reply(text=f"{before}Schema and prompt are ready. I cannot run the extraction here.")
        return talk.call(f"{before}Now I run the extraction.", ("run_extraction", arguments))
    if last.rejected:
        return Reply(
            text=f"{before}All right, it did not run. Schema and prompt are ready; say “run it” when you want it."
        )
    if not last.done:
        return Reply(text=f"{failed(last)} Schema and prompt are ready; say “run it again” to retry.")
    fields = list(properties_of(inner_schema(plan.response_format)))
    return Reply(text=f"{before}{summary(last.result.get('extraction'), fields)}")
