"""The table of states: one function for both APIs."""

import pytest

from documents.states import RunFact, derive_state

PARSED = RunFact("parse", "complete")


@pytest.mark.parametrize(
    ("runs", "state", "phase"),
    [
        ([RunFact("parse", "queued")], "uploaded", "queued"),
        ([RunFact("parse", "parsing")], "ocr_processing", "parsing"),
        ([RunFact("parse", "error")], "ocr_failed", "error"),
        ([RunFact("parse", "cancelled")], "ocr_failed", "cancelled"),
        ([RunFact("parse", "indexing")], "ocr_completed", "indexing"),
        ([PARSED], "ocr_completed", "complete"),
        ([RunFact("extract", "extracting"), PARSED], "llm_processing", "extracting"),
        ([RunFact("propose", "proposing"), PARSED], "llm_processing", "proposing"),
        ([RunFact("extract", "complete"), RunFact("extract", "error"), PARSED], "llm_completed", "complete"),
        ([RunFact("extract", "error"), PARSED], "llm_failed", "complete"),
        ([RunFact("extract", "cancelled"), PARSED], "ocr_completed", "complete"),
        ([RunFact("parse", "parsing"), RunFact("extract", "complete"), PARSED], "ocr_processing", "parsing"),
    ],
)
def test_runs_decide_the_state_of_a_document(runs: list[RunFact], state: str, phase: str) -> None:
    assert derive_state(runs) == (state, phase)
