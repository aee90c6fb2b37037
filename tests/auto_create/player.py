"""A process of its own that plays a person: decides about a proposal the moment it is told to."""

import json
import sys
from uuid import UUID

from agent.reviewing import reject
from documents.reviewing import Outcome, accept
from organizations.models import User
from organizations.selectors import actor_for


def main() -> None:
    """One order a line: who decides what about which document. Answers each with what it led to."""
    sys.stdout.write('{"ready": true}\n')
    sys.stdout.flush()
    for line in sys.stdin:
        order = json.loads(line)
        user = User.objects.get(email=order["email"])
        actor = actor_for(user=user, organization_id=UUID(order["organization"]), via="page")
        decide = {"accept": accept, "reject": reject}[order["decide"]]
        outcome: Outcome = decide(actor=actor, document_id=order["document"])
        told = {
            "counted": outcome.counted,
            "status": outcome.attempt.status,
            "by": outcome.attempt.decided_by_name,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
