"""How often does the built-in model answer a question right, and how often does it answer what has no answer?

    python -m bench.answers [FOLDER]

FOLDER has documents with an `index.json`, as for `bench.offline_accuracy`; without one, papers that nothing was tuned
on are made.

A citation counts when the server's own check finds its quote on the page. Forms and photographs are left out: nobody
asks them for a total.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent.answers.citing import Citer
from agent.answers.marks import Mark, MarkReader
from bench.accuracy.reading import Case, read_folder
from bench.offline_accuracy import made_papers
from llm.content import PageContent
from llm.offline.dialogue.quoting import answer_with_quotes
from llm.offline.extract.reading import Reading
from llm.offline.typing.amounts import find_amounts
from llm.offline.typing.dates import find_dates

QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "en": {
        "gross_total": ("What is the total?", "How much is to be paid in total?"),
        "issue_date": ("What is the invoice date?", "When was this issued?"),
        "document_number": ("What is the invoice number?", "What is the number of this document?"),
        "seller_name": ("Who is the seller?", "Who issued this document?"),
        "buyer_name": ("Who is the customer?", "Who is the buyer?"),
    },
    "de": {
        "gross_total": ("Wie hoch ist der Gesamtbetrag?", "Wie viel muss ich bezahlen?"),
        "issue_date": ("Wie lautet das Rechnungsdatum?", "Wann wurde die Rechnung ausgestellt?"),
        "document_number": ("Wie lautet die Rechnungsnummer?", "Welche Nummer hat die Rechnung?"),
        "seller_name": ("Wer ist der Verkäufer?", "Wer hat die Rechnung ausgestellt?"),
        "buyer_name": ("Wer ist der Kunde?", "Wer ist der Käufer?"),
    },
    "fr": {
        "gross_total": ("Quel est le montant total ?", "Combien dois-je payer ?"),
        "issue_date": ("Quelle est la date de facture ?", "Quand la facture a-t-elle été émise ?"),
        "document_number": ("Quel est le numéro de facture ?",),
        "seller_name": ("Qui est le vendeur ?", "Qui a émis la facture ?"),
        "buyer_name": ("Qui est le client ?", "Qui est l'acheteur ?"),
    },
}
WITHOUT_ANSWER = {
    "en": ("What is the warranty period?", "What is the CEO's shoe size?", "Which court is competent?"),
    "de": ("Wie lange gilt die Garantie?", "Welche Schuhgröße hat der Chef?", "Welches Gericht ist zuständig?"),
    "fr": ("Quelle est la durée de la garantie ?", "Quelle est la pointure du directeur ?"),
}


@dataclass
class Tally:
    """What was asked and what came of it."""

    asked: int = 0
    right: int = 0
    cited: int = 0
    empty_asked: int = 0
    empty_answered: int = 0


def is_right(wanted: Any, said: str) -> bool:
    """Whether an answer says the true value, a credit's sign aside."""
    if isinstance(wanted, int | float):
        true = abs(Decimal(str(wanted)))
        return any(abs(amount.value) == true for point in (".", ",") for amount in find_amounts(said, point))
    dates = [*find_dates(said, "day_first"), *find_dates(said, "month_first")]
    return str(wanted).casefold() in said.casefold() or any(date.iso == wanted for date in dates)


def read(text: str, pages: Sequence[PageContent]) -> tuple[str, bool]:
    """An answer without its marks, and whether all its citations hold."""
    reader = MarkReader()
    pieces = [*reader.feed(text), *reader.close()]
    citer = Citer(pages)
    held = [citer.cite(piece, at=0) is not None for piece in pieces if isinstance(piece, Mark)]
    return "".join(piece for piece in pieces if isinstance(piece, str)), bool(held) and all(held)


def questions_of(case: Case) -> Iterator[tuple[str, Any]]:
    """Questions with their true values, in English and the document's language."""
    for language in sorted({"en", case.language} & set(QUESTIONS)):
        for name, asked in QUESTIONS[language].items():
            if case.fields.get(name):
                yield from ((question, case.fields[name]) for question in asked)


def judge(case: Case, tally: Tally) -> None:
    reading = Reading(case.content)
    for question, wanted in questions_of(case):
        said, holds = read(answer_with_quotes(reading, question).text, case.content.pages)
        right = is_right(wanted, said)
        tally.asked, tally.right, tally.cited = tally.asked + 1, tally.right + right, tally.cited + (right and holds)
        if not (right and holds):
            print(f"  {case.name}: {question} {wanted!r} -> {said[:100]!r}")
    for language in sorted({"en", case.language} & set(QUESTIONS)):
        for question in WITHOUT_ANSWER[language]:
            answered = not answer_with_quotes(reading, question).text.startswith("[[none]]")
            tally.empty_asked, tally.empty_answered = tally.empty_asked + 1, tally.empty_answered + answered


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    folder = parser.parse_args().folder or made_papers(Path(tempfile.mkdtemp(prefix="docrouter-papers-")))
    tally = Tally()
    for case in read_folder(folder):
        if not case.kind.startswith("form") and "photo" not in case.name:
            judge(case, tally)
    print(f"right: {tally.right} of {tally.asked}; right and cited: {tally.cited}")
    print(f"answered though there is no answer: {tally.empty_answered} of {tally.empty_asked}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
