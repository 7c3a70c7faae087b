"""Reads Markdown: links, headings and their anchors, code blocks."""

import dataclasses
import re

FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
# The target of [text](target "title") and of ![text](target). It may contain balanced parentheses.
INLINE_LINK = re.compile(r"\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:\s+<?(\S+?)>?\s*(?:\"[^\"]*\")?\s*$")
AUTOLINK = re.compile(r"<((?:https?|mailto|doc):[^<>]*)>")
HTML_TARGET = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]*)\"")
HTML_ID = re.compile(r"<[a-z][a-z0-9]*\b[^>]*?\b(?:id|name)=\"([^\"]+)\"")


@dataclasses.dataclass(frozen=True)
class Link:
    """A link of a document: its line number, and the place of its target in that line."""

    line: int
    start: int
    end: int
    target: str


@dataclasses.dataclass(frozen=True)
class CodeBlock:
    """A fenced code block: the number and indentation of its first line, its language, its lines, and the line before it."""

    line: int
    language: str
    lines: tuple
    indent: str
    before: str


def prose(text):
    """The lines of a document as (number, line, line without code). Code is replaced by spaces, so that positions are kept.

    The line without code is None inside a fenced code block.
    """
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        match = FENCE.match(line)
        if fence:
            if match and match[2].startswith(fence) and not match[3].strip():
                fence = None
            yield number, line, None
        elif match:
            fence = match[2]
            yield number, line, None
        else:
            yield number, line, CODE_SPAN.sub(lambda span: " " * len(span.group()), line)


def code_blocks(text):
    """The fenced code blocks of a document."""
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        match = FENCE.match(lines[index])
        if not match:
            index += 1
            continue
        end = index + 1
        while end < len(lines) and not re.fullmatch(rf" *{match[2]}{match[2][0]}*\s*", lines[end]):
            end += 1
        content = tuple(line.removeprefix(match[1]) for line in lines[index + 1:end])
        before = next((line for line in reversed(lines[:index]) if line.strip()), "")
        yield CodeBlock(index + 1, match[3].strip(), content, match[1], before.strip())
        index = end + 1


def links(text):
    """The links of a document, in order. Links inside code are not links."""
    for number, _, line in prose(text):
        if line is None:
            continue
        found = {}
        for pattern in (INLINE_LINK, DEFINITION, AUTOLINK, HTML_TARGET):
            for match in pattern.finditer(line):
                found[match.span(1)] = match[1]
        for (start, end), target in sorted(found.items()):
            yield Link(number, start, end, target)


def slug(title):
    """The anchor of a heading, as GitHub makes it."""
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"<[^>]*>", "", title)
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def headings(text):
    """The headings of a document as (line number, level, title, anchor). A repeated anchor has a number at its end."""
    used = {}
    for number, line, plain in prose(text):
        match = HEADING.match(line) if plain is not None else None
        if not match:
            continue
        anchor = slug(match[2])
        count = used.get(anchor, 0)
        used[anchor] = count + 1
        yield number, len(match[1]), match[2], f"{anchor}-{count}" if count else anchor


def anchors(text):
    """All anchors of a document: its headings, and the identifiers in its HTML."""
    found = {anchor for _, _, _, anchor in headings(text)}
    for _, _, line in prose(text):
        if line is not None:
            found.update(HTML_ID.findall(line))
    return found


def title(text):
    """The first heading of a document, without markup, or None."""
    for _, _, heading, _ in headings(text):
        return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return None


LIST_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +)(?=\S)")


def with_wide_lists(text):
    """The document with the contents of lists indented by four spaces per level, and a blank line before each list.

    GitHub accepts less indentation, and lists directly after a paragraph; Python-Markdown does not.
    """
    lines = []
    levels = []  # The indentation of the contents of the open list items.
    fence = None  # The marker of the open code block, and the indentation of the list item that contains it.
    is_paragraph = False  # Whether the line before is text that this line may continue.
    for line in text.split("\n"):
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        margin = " " * 4 * len(levels)
        if fence:
            lines.append(margin + line[min(indent, fence[1]):] if content else "")
            if re.fullmatch(f"{fence[0]}{fence[0][0]}*\\s*", content):
                fence, is_paragraph = None, False
            continue
        if not content:
            lines.append("")
            is_paragraph = False
            continue
        item, opening = LIST_ITEM.match(line), FENCE.match(line)
        was_in_list = bool(levels)
        is_block = item or opening or HEADING.match(line) or content[0] in "|<>"
        if is_block or not is_paragraph:
            while levels and indent < levels[-1]:
                levels.pop()
            margin = " " * 4 * len(levels)
            base = levels[-1] if levels else 0
            if item and indent < base + 4:
                if is_paragraph and not was_in_list:
                    lines.append("")
                lines.append(f"{margin}{item[2]} {line[item.end():]}")
                levels.append(indent + len(item[2]) + (len(item[3]) if len(item[3]) < 5 else 1))
            else:
                if opening:
                    fence = opening[2], base
                lines.append(margin + line[min(indent, base):])
        else:
            lines.append(margin + content)
        is_paragraph = not opening and not HEADING.match(line)
    return "\n".join(lines)
