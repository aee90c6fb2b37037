"""The engine stands alone: light to import, quick, standard library only."""

import subprocess
import sys
import time

from llm.offline.engine import reply
from tests.llm.offline.paper import Paper, document

CHECK = """
import sys, time
started = time.process_time()
import llm.offline.engine
heavy = {"django", "litellm", "onnxruntime", "pydantic", "numpy", "jsonschema"} & set(sys.modules)
print(time.process_time() - started, sorted(heavy))
"""


def test_the_engine_imports_in_a_moment_and_nothing_heavy() -> None:
    said = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True).stdout.split(
        maxsplit=1
    )
    assert said[1].strip() == "[]"
    assert float(said[0]) < 0.3


def test_a_full_page_takes_a_moment() -> None:
    paper = Paper()
    for line in range(60):
        paper.put(
            40,
            20 + 13 * line,
            f"Clause {line}: the parties agree on item {line * 7} as of 0{line % 9 + 1}.02.2024, fee {line}.50 EUR",
        )
    wanted = {
        name: {"type": "string"}
        for name in ("document_number", "issue_date", "seller_name", "buyer_name", "iban", "notes")
    }
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": wanted}}}
    started = time.process_time()
    reply(messages=[], tools=[], document=document(paper), response_format=schema)
    assert time.process_time() - started < 0.6
