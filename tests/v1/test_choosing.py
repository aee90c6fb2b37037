"""Pages are chosen before anything is locked, and thousands of them at little cost."""

import time

import pytest
from django.db import connection

from agent.answers import services
from agent.answers.asked import Asked
from agent.answers.choosing import choose_pages
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document


def test_pages_are_chosen_outside_of_a_transaction(
    transactional_db: None, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def choose(texts: list[tuple[int, str]], **_: object) -> list[int]:
        seen.append(connection.in_atomic_block)
        return [number for number, _text in texts]

    monkeypatch.setattr(services, "choose_pages", choose)
    document = make_document(alice, *RECEIPT)
    services.begin_response(actor=alice.actor, document_id=document.pk, asked=Asked(text="What is the total?"))
    assert seen == [False]


def test_spellings_of_a_word_are_the_same_word() -> None:
    """Capitals, accents (composed or not), ligatures, parts of longer words, endings."""
    pages = [(1, "nothing here at all")]
    for word in ("GESAMTBETRAG", "Endgesamtbetrag", "gesamtbetra", "e\u0301tage", "\u00c9tage", "\ufb01nance"):
        question = {"e": "Quel étage?", "\u00c9": "Quel étage?", "\ufb01": "finance"}.get(word[0], "Gesamtbetrag?")
        assert choose_pages([*pages, (2, f"a {word} 5")], question=question, room=20) == [2], word


def test_two_thousand_pages_cost_less_than_what_a_look_at_each_letter_would() -> None:
    text = " ".join(f"word{number} straße Rechnung{number % 7}" for number in range(120))
    pages = [(number, f"{text} {number}") for number in range(1, 2001)]
    begun = time.process_time()
    assert 1 in choose_pages(pages, question="Wie hoch ist der Gesamtbetrag der Rechnung?", room=10_000)
    spent = time.process_time() - begun
    letters = time.process_time()
    assert sum(char.isalpha() for _, page in pages for char in page)
    assert spent < 3 * (time.process_time() - letters)
