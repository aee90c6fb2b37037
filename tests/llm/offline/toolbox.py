"""A scripted toolbox: plays the agent's part of a conversation with the offline engine."""

import json
from dataclasses import dataclass, field
from typing import Any

from llm.content import DocumentContent
from llm.offline.engine import Reply, reply

NAMES = [
    "get_ocr_text",
    "get_extraction_result",
    "list_documents",
    "get_schema",
    "list_schemas",
    "validate_schema",
    "validate_against_schema",
    "get_prompt",
    "list_prompts",
    "get_tag",
    "list_tags",
    "help_schemas",
    "help_prompts",
    "list_llm_models",
    "run_extraction",
    "update_extraction_field",
    "update_document",
    "delete_document",
    "create_schema",
    "update_schema",
    "delete_schema",
    "create_prompt",
    "update_prompt",
    "delete_prompt",
    "create_tag",
    "update_tag",
    "delete_tag",
]
STATE = (
    "schema_revid",
    "schema_id",
    "schema_name",
    "schema_version",
    "prompt_revid",
    "prompt_id",
    "prompt_name",
    "response_format",
    "extraction",
)


@dataclass
class Talk:
    """A thread about one document. `refuse`: tool → reason of its next rejection; `fail`: tool → its next error."""

    document: DocumentContent
    refuse: dict[str, str] = field(default_factory=dict)
    fail: dict[str, str] = field(default_factory=dict)
    edit: dict[str, dict[str, Any]] = field(default_factory=dict)
    schemas: list[dict[str, Any]] = field(default_factory=list)
    tags: list[dict[str, Any]] = field(default_factory=list)
    mentions: list[dict[str, Any]] = field(default_factory=list)
    tools: tuple[str, ...] = tuple(NAMES)
    state: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(STATE))
    history: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def ask(self, question: str) -> str:
        """Play a turn to its end; the final text."""
        self.calls, self.replies = [], []
        self.history.append({"role": "user", "content": question})
        for _ in range(12):
            answer = self._reply()
            self.replies.append(answer)
            if not answer.tool_calls:
                self.history.append({"role": "assistant", "content": answer.text})
                return answer.text
            self._take(answer)
        raise AssertionError("the turn does not end")

    def names(self) -> list[str]:
        """The tools called in the last turn, in order."""
        return [name for name, _ in self.calls]

    def arguments(self, name: str) -> dict[str, Any]:
        """The arguments of the last call of a tool."""
        return next(arguments for called, arguments in reversed(self.calls) if called == name)

    def _reply(self) -> Reply:
        about = {"id": "d1", "name": "page.pdf", "pages": 1, "state": "llm_completed", "tags": []}
        data = {
            "document": about,
            "text_excerpt": "",
            "text_is_cut": False,
            "working_state": self.state,
            "mentions": self.mentions,
        }
        escaped = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e")
        block = f"What follows is data.\n<<<DATA b7f3\n{escaped}\nDATA b7f3>>>"
        messages = [
            {"role": "system", "content": "Follow the rules."},
            {"role": "user", "content": block},
            *self.history,
        ]
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in self.tools]
        return reply(messages=messages, tools=tools, document=self.document, response_format=None)

    def _take(self, answer: Reply) -> None:
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in answer.tool_calls
        ]
        self.history.append({"role": "assistant", "content": answer.text, "tool_calls": asked})
        for place, call in enumerate(answer.tool_calls):
            arguments = json.loads(call.arguments)
            if call.name in self.edit:
                arguments.update(self.edit.pop(call.name))
                asked[place]["function"]["arguments"] = json.dumps(arguments)
            self.calls.append((call.name, arguments))
            result = self._result(call.name, arguments)
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})

    def _result(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name in self.refuse:
            return {"error": "User rejected this action.", "reason": self.refuse.pop(name)}
        if name in self.fail:
            return {"error": self.fail.pop(name), "code": "invalid"}
        return getattr(self, f"_{name}", lambda _: {"message": "Done"})(arguments)

    def _validate_schema(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"valid": True}

    def _list_schemas(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"schemas": self.schemas, "total_count": len(self.schemas), "skip": 0}

    def _list_tags(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"tags": self.tags, "total_count": len(self.tags), "skip": 0}

    def _create_tag(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"tag_id": "t9", "name": arguments["name"]}

    def _create_schema(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.state.update(schema_id="s1", schema_revid="sr1", schema_name=arguments["name"])
        self.state["response_format"] = arguments["response_format"]
        return {"schema_id": "s1", "schema_revid": "sr1", "name": arguments["name"]}

    def _update_schema(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.state.update(schema_revid="sr2", schema_name=arguments.get("name") or self.state["schema_name"])
        self.state["response_format"] = arguments.get("response_format") or self.state["response_format"]
        return {"schema_id": "s1", "schema_revid": "sr2", "name": self.state["schema_name"]}

    def _create_prompt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.state.update(prompt_id="p1", prompt_revid="pr1", prompt_name=arguments["name"])
        return {"prompt_id": "p1", "prompt_revid": "pr1", "name": arguments["name"]}

    def _update_prompt(self, _: dict[str, Any]) -> dict[str, Any]:
        self.state.update(prompt_revid="pr2")
        return {"prompt_id": "p1", "prompt_revid": "pr2", "name": self.state["prompt_name"]}

    def _run_extraction(self, arguments: dict[str, Any]) -> dict[str, Any]:
        schema = self.state["response_format"] or self.schemas[0]["response_format"]
        found = reply(messages=[], tools=[], document=self.document, response_format=schema)
        self.state["extraction"] = json.loads(found.text)
        return {"prompt_revid": arguments.get("prompt_revid"), "extraction": self.state["extraction"]}
