"""Text, Markdown and CSV as PDF pages."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from documents.ingest.limits import Limits
from documents.ingest.paper import Paper

_WIDE_COLUMNS, _MAX_COLUMNS = 6, 24
_HEADINGS = {"h1": 18.0, "h2": 15.0, "h3": 13.0}


def read_text(path: Path) -> str:
    """Decode a file: by its byte order mark, as UTF-8, else as Windows' Latin alphabet."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def plain_to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """Print lines as they stand."""
    paper = Paper(limits)
    for line in read_text(path).splitlines():
        paper.line(line, size=9, mono=True)
    return paper.save(target)


def csv_to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """Print rows as a table."""
    text = read_text(path)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:8192], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    csv.field_size_limit(limits.converted_characters)
    rows = list(csv.reader(StringIO(text), dialect))
    paper = Paper(limits, wide=max((len(row) for row in rows), default=0) > _WIDE_COLUMNS)
    add_table(paper, rows)
    return paper.save(target)


def add_table(paper: Paper, rows: list[list[str]]) -> None:
    """Add rows as a table; one that is too wide for the paper is continued below in further columns."""
    columns = max((len(row) for row in rows), default=0)
    for start in range(0, columns, _MAX_COLUMNS):
        part = [row[start : start + _MAX_COLUMNS] for row in rows]
        paper.table(part, size=8 if columns <= _WIDE_COLUMNS else 6)


def markdown_to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """Print headings, paragraphs, lists, tables and code; pictures and raw HTML are noted."""
    paper = Paper(limits)
    tree = SyntaxTreeNode(MarkdownIt("commonmark", {"html": False}).enable("table").parse(read_text(path)))
    for node in tree.children:
        _add_node(paper, node, 0)
    return paper.save(target)


def _add_node(paper: Paper, node: SyntaxTreeNode, depth: int) -> None:
    match node.type:
        case "heading":
            paper.line(_text(paper, node), size=_HEADINGS.get(node.tag, 11), bold=True)
        case "paragraph":
            paper.line(_text(paper, node), indent=14 * depth)
        case "fence" | "code_block":
            for line in node.content.splitlines():
                paper.line(line, size=8, mono=True, indent=14 * depth)
        case "table":
            paper.table(
                [[_text(paper, cell) for cell in row.children] for part in node.children for row in part.children]
            )
        case "list_item":
            _add_item(paper, node, depth)
        case _:
            deeper = depth + (node.type in ("bullet_list", "ordered_list", "blockquote"))
            for child in node.children:
                _add_node(paper, child, deeper)


def _add_item(paper: Paper, node: SyntaxTreeNode, depth: int) -> None:
    mark = f"{node.info}. " if node.info else "\u2022 "
    for number, child in enumerate(node.children):
        if number == 0:
            paper.line(mark + _text(paper, child), indent=14 * depth)
        else:
            _add_node(paper, child, depth)


def _text(paper: Paper, node: SyntaxTreeNode) -> str:
    if node.type == "image":
        paper.note("Pictures of this file are not shown.")
    if node.type in ("text", "code_inline"):
        return node.content
    if node.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(_text(paper, child) for child in node.children)
