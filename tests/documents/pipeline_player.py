"""A process of its own that plays a second worker: queues a document's prompts, or works on runs, when told to."""

import json
import sys
import uuid

from documents import pipeline


def main() -> None:
    """One order a line: a document to queue, or runs to work on. Answers each with a line."""
    sys.stdout.write('{"ready": true}\n')
    sys.stdout.flush()
    for line in sys.stdin:
        order = json.loads(line)
        if "document" in order:
            made = [run_id.hex for run_id in pipeline.queue_prompts(uuid.UUID(order["document"]))]
        else:
            made = []
            for run_id in order["runs"]:
                pipeline.extract(uuid.UUID(run_id))
        sys.stdout.write(json.dumps({"made": made}) + "\n")
        sys.stdout.flush()
