"""The engine stands alone: light to import (how quick: `bench.offline_accuracy`)."""

import subprocess
import sys

CHECK = """
import sys
import llm.offline.engine
heavy = {"django", "litellm", "onnxruntime", "pydantic", "numpy", "jsonschema"} & set(sys.modules)
print(sorted(heavy))
"""


def test_the_engine_imports_nothing_heavy() -> None:
    said = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
