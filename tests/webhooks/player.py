"""A process of its own that plays a worker: sends what is due to one webhook until nothing is left."""

import sys
import time
import uuid

from webhooks.models import Delivery
from webhooks.processing import deliver_due


def main() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    deadline = time.monotonic() + 20
    while Delivery.objects.filter(status=Delivery.Status.PENDING).exists() and time.monotonic() < deadline:
        deliver_due(uuid.UUID(sys.argv[1]))
        time.sleep(0.002)
