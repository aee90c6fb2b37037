"""Answers of a model as HTML: Markdown without raw HTML, pictures or outside links, then an allow-list on top.

A model's text may repeat what a hostile document says. So nothing in it can load anything (pictures), run anything
(HTML) or carry data away by a click (outside links are shown as text with their address). Links that name our own
things (`schema:<id>`, `doc:<id>` …) lead to our pages.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import nh3
from django.urls import NoReverseMatch, reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

_OWN_LINK = re.compile(r"(schema|schema_rev|prompt|prompt_rev|tag|doc):([0-9a-f]{32})")
_PAGES = {
    "schema": "schemas:detail",
    "schema_rev": "schemas:revision",
    "prompt": "prompts:detail",
    "prompt_rev": "prompts:revision",
    "tag": "tags:detail",
    "doc": "documents:detail",
}
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span", "div"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES: Mapping[str, set[str]] = {
    "a": {"href"},
    "code": {"class"},
    "span": {"class"},
    "div": {"class"},
    "pre": {"class"},
    "ol": {"start"},
}
MAX_CHARS = 60_000
"""Reading some texts takes time that grows with the square of their length: a second for this many brackets."""


class _Renderer(RendererHTML):
    """markdown-it's renderer with our links, diffs and heading levels."""

    def link_open(self, tokens: Sequence[Token], idx: int, *_others: Any) -> str:
        href = str(tokens[idx].attrGet("href") or "")
        page = own_page(href)
        closing = next(t for t in tokens[idx:] if t.type == "link_close" and t.level == tokens[idx].level)
        closing.meta = {"own": page is not None, "href": href}
        return f'<a href="{escape(page)}">' if page else '<span class="outside">'

    def link_close(self, tokens: Sequence[Token], idx: int, *_others: Any) -> str:
        meta = tokens[idx].meta
        if meta.get("own"):
            return "</a>"
        address = "" if _OWN_LINK.match(meta["href"]) else f" <code>{escape(meta['href'])}</code>"
        return f"{address}</span>"

    def fence(self, tokens: Sequence[Token], idx: int, *_others: Any) -> str:
        token = tokens[idx]
        if token.info.strip().split(" ")[0] != "diff":
            return f'<pre class="code"><code>{escape(token.content)}</code></pre>\n'
        return f'<pre class="code diff"><code>{"".join(map(_diff_line, token.content.splitlines()))}</code></pre>\n'

    def heading_open(self, tokens: Sequence[Token], idx: int, *_others: Any) -> str:
        return f"<{_heading(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, *_others: Any) -> str:
        return f"</{_heading(tokens[idx].tag)}>"


def _heading(tag: str) -> str:
    """The page has its own h1 and h2; an answer's headings stand below them."""
    return f"h{min(int(tag[1:]) + 2, 6)}"


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed"}.get(line[:1], "same")
    return f'<span class="{kind}">{escape(line)}</span>\n'


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = lambda url: len(url) < 2_000  # type: ignore[method-assign]  # links are ours or become text
    return parser


_MARKDOWN = _parser()


def own_page(href: str) -> str | None:
    """The address of our page that a model's link names, None when it names none."""
    match = _OWN_LINK.fullmatch(href)
    if match is None:
        return None
    try:
        return reverse(_PAGES[match[1]], args=[match[2]])
    except NoReverseMatch:
        return None


def to_html(text: str) -> SafeString:
    """A model's Markdown as HTML that is safe in a page. Units: what is longer than `MAX_CHARS` is cut."""
    html = _MARKDOWN.render(text[:MAX_CHARS])
    cleaned = nh3.clean(
        html, tags=_TAGS, attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()}, link_rel=None
    )
    return mark_safe(cleaned)  # noqa: S308  # just passed through the allow-list
