"""A process of its own that plays a second web process: tags documents, runs extractions. Started by `test_races`."""

import asyncio
import json
import sys
import uuid
from typing import Any

from core.errors import DomainError
from documents import extraction, services
from llm.types import Completion
from organizations.models import User
from organizations.selectors import actor_for


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def actor_of(given: dict[str, Any]) -> Any:
    user = User.objects.get(email=given["email"])
    return actor_for(user=user, organization_id=uuid.UUID(given["organization"]), via="page")


def attach(given: dict[str, Any]) -> None:
    """Give the document one tag after another, each when told to."""
    actor = actor_of(given)
    tell(ready=True)
    for tag_id in given["tags"]:
        sys.stdin.readline()
        try:
            services.update_document(actor=actor, document_id=given["document"], tag_ids=[tag_id])
            tell(attached=True)
        except DomainError as problem:
            tell(attached=False, code=problem.error_code)


def extract(given: dict[str, Any]) -> None:
    """Run an extraction on a model that never answers; say when it was asked, and how that ended."""

    async def never(**_asked: Any) -> Completion:
        tell(asked=True)
        try:
            await asyncio.sleep(60)
        finally:
            tell(hung_up=True)
        raise AssertionError

    setattr(extraction, "complete", never)  # noqa: B010 - a model that keeps us waiting
    try:
        asyncio.run(extraction.run_extraction(actor=actor_of(given), document_id=given["document"]))
    except DomainError as problem:
        tell(ended=problem.error_code)


def main() -> None:
    {"attach": attach, "extract": extract}[sys.argv[1]](json.loads(sys.argv[2]))
