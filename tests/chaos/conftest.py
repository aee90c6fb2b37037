"""The workers of the tests of documents are killed here."""

from tests.documents.conftest import start_worker

__all__ = ["start_worker"]
