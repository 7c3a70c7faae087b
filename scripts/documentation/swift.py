"""Reads the string literals of Swift sources, with the calls and declarations that contain them."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Literal:
    """A string literal of a Swift file, or several that are joined with `+`.

    `text` has "…" in place of each interpolation. A literal within an interpolation follows the one that contains it. `context` has the
    names of the enclosing calls, from the outermost to the innermost: "Failure" for `Failure("text")`.
    """

    line: int
    text: str
    context: tuple


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "'": "'", "\\": "\\"}
BRACKETS = {"(": ")", "[": "]", "{": "}"}


class Reader:
    """Reads one file from its start to its end."""

    def __init__(self, text):
        self.text = text
        self.position = 0
        self.found = []

    def skip_comment(self):
        """Whether a comment begins here; it is skipped."""
        text = self.text
        if text.startswith("//", self.position):
            end = text.find("\n", self.position)
            self.position = len(text) if end < 0 else end
            return True
        if text.startswith("/*", self.position):
            depth, self.position = 1, self.position + 2
            while depth and self.position < len(text):
                if text.startswith("/*", self.position):
                    depth, self.position = depth + 1, self.position + 2
                elif text.startswith("*/", self.position):
                    depth, self.position = depth - 1, self.position + 2
                else:
                    self.position += 1
            return True
        return False

    def code(self, closing, context):
        """Reads code up to and including the bracket that ends it, or to the end of the file."""
        text = self.text
        begin = self.position
        last, joint = None, ""  # The index of the literal before, and the code since.
        while self.position < len(text):
            if self.skip_comment():
                continue
            character = text[self.position]
            if character == closing:
                self.position += 1
                return
            if character == '"' or (character == "#" and re.match(r'#+"', text[self.position:self.position + 8])):
                line = text.count("\n", 0, self.position) + 1
                slot = len(self.found)
                self.found.append(None)
                value = self.string(context)
                if last is not None and re.fullmatch(r"\s*\+\s*", joint):
                    before = self.found[last]
                    self.found[last] = dataclasses.replace(before, text=before.text + value)
                    del self.found[slot]
                else:
                    self.found[slot] = Literal(line, value, context)
                    last = slot
                joint = ""
                continue
            joint += character
            if character in BRACKETS:
                name = self.called(begin)
                self.position += 1
                self.code(BRACKETS[character], context + ((name,) if name else ()))
                continue
            self.position += 1

    def called(self, begin):
        """The name of the call whose bracket opens here, or an empty text."""
        before = self.text[max(begin, self.position - 120):self.position]
        match = re.search(r"([A-Za-z_][A-Za-z0-9_]*)(<[A-Za-z0-9_.?, \[\]]*>)?$", before)
        return match[1] if match and self.text[self.position] == "(" else ""

    def string(self, context):
        """Reads the literal that begins here; returns its text."""
        text = self.text
        hashes = re.match(r"#*", text[self.position:])[0]
        self.position += len(hashes)
        quote = '"""' if text.startswith('"""', self.position) else '"'
        self.position += len(quote)
        escape = "\\" + hashes
        parts = []
        while not text.startswith(quote + hashes, self.position):
            if text.startswith(escape, self.position):
                self.position += len(escape)
                character = text[self.position]
                self.position += 1
                if character == "(":
                    self.code(")", context)
                    parts.append("…")
                elif character == "u":
                    end = text.index("}", self.position)
                    parts.append(chr(int(text[self.position + 1:end], 16)))
                    self.position = end + 1
                elif character == "\n":
                    pass
                else:
                    parts.append(ESCAPES.get(character, character))
            else:
                parts.append(text[self.position])
                self.position += 1
        self.position += len(quote + hashes)
        value = "".join(parts)
        if quote == '"""':
            lines = value.split("\n")
            margin = len(lines[-1]) if not lines[-1].strip() else 0
            value = "\n".join(line[margin:] for line in lines[1:-1])
        return value


def literals(text):
    """The string literals of a Swift source, in order."""
    reader = Reader(text)
    reader.code(None, ())
    return reader.found
