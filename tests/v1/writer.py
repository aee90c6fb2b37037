"""A process of its own that writes to a document's log, until it has written enough or is killed."""

import json
import sys

from django.db import transaction

from documents.events import append_event
from documents.models import Document


def main() -> None:
    given = json.loads(sys.argv[1])
    document = Document.objects.get(pk=given["document"])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for step in range(given["count"]):
        with transaction.atomic():
            data = {"kind": given["name"], "attempt": step}
            append_event(document_id=document.pk, type="run.started", data=data)
