"""The main job as a large model would do it: read, propose a schema, a prompt, run, sum up; and fill the schema.

    fake_provider.add(*main_job_steps())

Ids that only the tools know are taken from their results. As a script file for the process:
`python -m tests.fakes.main_job > script.json`.
"""

import json
import sys
from typing import Any

from tests.fakes.steps import Call, Step, step_to_json

SCHEMA_NAME = "Invoice (by a model)"
PROMPT_NAME = "Invoice fields (by a model)"
SUMMARY = "I set up a schema and a prompt and ran the extraction."
QUESTION = "Set up extraction for this document"
VALUES = {"title": "Invoice", "total": 0}


def response_format(properties: dict[str, Any] | None = None) -> dict[str, Any]:
    """A strict response format for these properties."""
    properties = properties or {
        "title": {"type": "string", "description": "What kind of document this is"},
        "total": {"type": "number", "description": "The amount to pay"},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "invoice", "schema": schema, "strict": True}}


def main_job_steps(
    *, wanted: dict[str, Any] | None = None, values: dict[str, Any] | None = None, signed: bool = True
) -> tuple[Step, ...]:
    """One step for each model call of the job, in order; the structured one fills the schema.

    With `signed` each answer thinks first, and requests in Anthropic's protocol must bring all signatures back.
    """
    wanted = wanted or response_format()
    reads = (Call("get_ocr_text", {}, "toolu_read"), Call("list_schemas", {}, "toolu_list"))
    prompt = {"name": PROMPT_NAME, "content": "Read the fields of this document.",
              "schema_id": "{{create_schema.schema_id}}"}  # fmt: skip
    rounds: list[tuple[str, tuple[Call, ...]]] = [
        ("I will read the document first.", reads),
        ("", (Call("validate_schema", {"schema": wanted}, "toolu_validate"),)),
        ("", (Call("create_schema", {"name": SCHEMA_NAME, "response_format": wanted}, "toolu_schema"),)),
        ("", (Call("create_prompt", prompt, "toolu_prompt"),)),
        ("", (Call("run_extraction", {"prompt_revid": "{{create_prompt.prompt_revid}}"}, "toolu_run"),)),
        (SUMMARY, ()),
    ]
    steps = []
    for number, (text, calls) in enumerate(rounds):
        thinking = f"Step {number}: what does the person need?" if signed else ""
        signature = _signature(number) if signed else ""
        before = tuple(_signature(earlier) for earlier in range(number)) if signed else ()
        steps.append(Step(text=text, calls=calls, thinking=thinking, signature=signature, expect_signatures=before))
    filled = Step(structured=True, text=json.dumps(values or VALUES))
    return (*steps, filled)


def _signature(number: int) -> str:
    return f"EqQB{number}/signed+by=the-fake=="


if __name__ == "__main__":
    json.dump([step_to_json(step) for step in main_job_steps(signed="--signed" in sys.argv)], sys.stdout, indent=1)
