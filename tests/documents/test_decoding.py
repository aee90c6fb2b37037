"""What a recognizer thinks of the columns of a line becomes characters and words."""

import numpy as np
import pytest

from documents.ingest.decoding import Alphabet, Character, Flags, LineWord, is_typed, is_western, spread_of, words_of

NAMES = ["blank", "1", "9", ",", "中", "é", " "]


def columns(*best: str, second: str = "") -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    found = np.zeros((len(best), len(NAMES)), dtype=np.float32)
    for at, name in enumerate(best):
        found[at, NAMES.index(name)] = 0.6
        if second:
            found[at, NAMES.index(second)] = 0.3
    return found


def line(*places: tuple[int, int], wide: int = 100) -> Flags:
    """A line with ink in these columns."""
    ink = np.zeros((20, wide), dtype=np.bool_)
    for start, end in places:
        ink[:, start:end] = True
    return ink


def characters(*places: tuple[str, float, float]) -> list[Character]:
    return [Character(text, x, 0.9, space) for text, x, space in places]


def test_a_character_counts_once_until_there_is_nothing_between() -> None:
    read = Alphabet(NAMES).decode(columns("9", "9", "blank", "9", "blank", "1"), 8, western=True)

    assert [one.text for one in read] == ["9", "9", "1"]
    assert [one.x for one in read] == [4, 28, 44]


def parted(read: list[Character], ink: Flags, *, typed: bool = False) -> list[LineWord]:
    spread = spread_of(read, ink)
    assert spread is not None
    return words_of(spread, typed=typed)


@pytest.mark.parametrize(("western", "text"), [(False, "中"), (True, "é")])
def test_a_page_in_latin_letters_gets_no_east_asian_ones(western: bool, text: str) -> None:
    read = Alphabet(NAMES).decode(columns("中", second="é"), 8, western=western)

    assert [one.text for one in read] == [text]


def test_a_space_belongs_to_the_character_behind_it() -> None:
    read = Alphabet(NAMES).decode(columns("1", " ", "9", "1"), 8, western=True)

    assert [(one.text, round(one.space, 1)) for one in read] == [("1", 0.0), ("9", 0.6), ("1", 0.0)]


@pytest.mark.parametrize("character", "aÄßéœñ€£¥%§°²☐☒“”–•")
def test_what_european_documents_have_is_known(character: str) -> None:
    assert is_western(character)


@pytest.mark.parametrize("character", "中カ한：①Ⅱ₂🎀")
def test_what_they_do_not_have_is_left_out(character: str) -> None:
    assert not is_western(character)


@pytest.mark.parametrize(
    ("space", "second", "words"),
    [
        (0.9, 31, ["aa", "b"]),  # read
        (0.1, 33, ["aa", "b"]),  # nearly read, and there is white
        (0.0, 33, ["aab"]),
        (0.0, 37, ["aa", "b"]),  # not read, but there is very much white
    ],
)
def test_words_part_at_spaces_and_at_white(space: float, second: int, words: list[str]) -> None:
    ink = line((10, 18), (20, 30), (second, second + 10))
    read = characters(("a", 14, 0.0), ("a", 25, 0.0), ("b", second + 5, space))

    assert [word.text for word in parted(read, ink)] == words


@pytest.mark.parametrize(("space", "words"), [(0.1, ["111"]), (0.9, ["11", "1"])])
def test_white_between_figures_is_no_space(space: float, words: list[str]) -> None:
    ink = line((10, 18), (20, 30), (36, 46))
    read = characters(("1", 14, 0.0), ("1", 25, 0.0), ("1", 41, space))

    assert [word.text for word in parted(read, ink)] == words


def test_letters_that_are_set_wide_stay_one_word() -> None:
    ink = line(*((20 * at, 20 * at + 10) for at in range(5)))
    read = characters(*(("1", 20 * at + 5, 0.0) for at in range(5)))

    assert [word.text for word in parted(read, ink)] == ["11111"]


def test_words_end_where_their_ink_ends() -> None:
    ink = line((2, 4), (20, 28), (30, 40), (60, 70))  # a stroke, a word of two characters, a word of one
    read = characters(("1", 24, 0.0), ("9", 35, 0.0), ("1", 65, 0.9))

    assert parted(read, ink) == [LineWord("19", 20, 40, 0.9), LineWord("1", 60, 70, 0.9)]


def typed_line(text: str) -> tuple[list[Character], Flags]:
    """Print of fixed pitch, 14 columns for each character; a comma has three of ink. Each gap was read as a space."""
    read = [Character(letter, 14 * at + 7, 0.9, 0.9) for at, letter in enumerate(text) if letter != " "]
    ink = np.zeros((20, 14 * len(text)), dtype=np.bool_)
    for one in read:
        half = 1 if one.text == "," else 5
        ink[:, int(one.x) - half : int(one.x) + half + 1] = True
    return read, ink


@pytest.mark.parametrize("text", ["1,99 1,99", "11 ,9 9,9 1", "111,99"])
def test_print_of_fixed_pitch_parts_where_a_cell_is_empty(text: str) -> None:
    assert [word.text for word in parted(*typed_line(text))] == text.split()


def test_short_lines_of_a_receipt_part_as_its_others_do() -> None:
    read, ink = typed_line("1,99")
    lines = [spread_of(*typed_line(text)) for text in ("1,99 1,99", "19,99 9,1", "1,9")]

    assert is_typed([line for line in lines if line is not None])
    assert [word.text for word in parted(read, ink, typed=True)] == ["1,99"]
    assert len(parted(read, ink)) > 1, "without the others nothing tells"


@pytest.mark.parametrize(
    ("seen", "text"),
    [("TiN", "TIN"), ("(ElN)", "(EIN)"), ("GAZ0LE", "GAZOLE"), ("A0C1B", "A0C1B"), ("AB0C", "AB0C"), ("GmbH", "GmbH")],
)
def test_a_word_of_capitals_has_no_small_letter_and_no_nought(seen: str, text: str) -> None:
    ink = line(*((12 * at, 12 * at + 10) for at in range(len(seen))))
    read = characters(*((letter, 12 * at + 5, 0.0) for at, letter in enumerate(seen)))

    assert [word.text for word in parted(read, ink)] == [text]
