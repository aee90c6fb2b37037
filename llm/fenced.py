"""Tool calls that a model wrote into its text instead of making them, as small models do.

While tools are offered, text that may become such a call is held back until it is clear what it is:
```json {"name": "create_tag", "arguments": {…}}``` (also bare, in <tool_call> marks, or as a list).
"""

import json
import re
from collections.abc import Iterable
from typing import Any

_OPENINGS = ("```", "<tool_call>")
_CLOSINGS = {"`": "```", "<": "</tool_call>"}
_ARGUMENT_KEYS = ("arguments", "parameters", "input")
_INFO = re.compile(r"^(```[\w-]*|<tool_call>)\s*")


class FenceGate:
    """Lets text through and keeps calls. `calls` are (name, arguments as JSON text); `held` is what waits."""

    def __init__(self, tool_names: Iterable[str]) -> None:
        self._names = frozenset(tool_names)
        self._let_through = False
        self.held = ""
        self.calls: list[tuple[str, str]] = []

    def feed(self, text: str) -> str:
        """Returns: the text that may be shown now."""
        if not self._names:
            return text
        self.held += text
        out = ""
        while self.held:
            start = self._start()
            out, self.held = out + self.held[:start], self.held[start:]
            self._let_through = self._let_through or bool(out.strip())
            end = self._end()
            if end is None:
                break
            out += self._judge(end)
        return out

    def close(self, *, calls_seen: bool) -> str:
        """The text is over. Returns: what was held and is no call, or is one beside real ones."""
        rest, self.held = self.held, ""
        if calls_seen or not rest:
            return rest
        calls = self._read(rest)
        self.calls += calls
        return "" if calls else rest

    def _start(self) -> int:
        """Where held text begins: at a fence, at the tail that may become one, or at bare JSON as the whole answer."""
        if not self._let_through and self.held.lstrip()[:1] in ("{", "["):
            return 0
        marks = [at for mark in _OPENINGS if (at := self.held.find(mark)) >= 0]
        if marks:
            return min(marks)
        longest = max(map(len, _OPENINGS))
        for at in range(max(0, len(self.held) - longest), len(self.held)):
            if any(mark.startswith(self.held[at:]) for mark in _OPENINGS):
                return at
        return len(self.held)

    def _end(self) -> int | None:
        closing = _CLOSINGS.get(self.held[:1])
        if closing is None or len(self.held) < len(closing):
            return None
        at = self.held.find(closing, len(closing))
        return None if at < 0 else at + len(closing)

    def _judge(self, end: int) -> str:
        block, self.held = self.held[:end], self.held[end:]
        calls = self._read(block)
        self.calls += calls
        self._let_through = self._let_through or not calls
        return "" if calls else block

    def _read(self, block: str) -> list[tuple[str, str]]:
        body = _INFO.sub("", block.strip()).removesuffix("```").removesuffix("</tool_call>")
        try:
            data = json.loads(body)
        except ValueError:
            return []
        items = data if isinstance(data, list) else [data]
        calls = [call for item in items if (call := self._call(item))]
        return calls if len(calls) == len(items) else []

    def _call(self, item: Any) -> tuple[str, str] | None:
        if not isinstance(item, dict) or item.get("name") not in self._names:
            return None
        values = next((item[key] for key in _ARGUMENT_KEYS if key in item), None)
        if values is None or set(item) - {"name", "id", "type", *_ARGUMENT_KEYS}:
            return None
        return item["name"], values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)
