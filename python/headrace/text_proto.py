"""Reader of protobuf's text format, without the message's definition: as much of it as configuration files use."""

import ast
import re

from .errors import ArgumentError

_TOKEN = re.compile(
    r"""\s* (?: \#[^\n]*\n \s* )*                     # space and comments
        (?: (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
          | (?P<word>[A-Za-z0-9_.+\-]+)
          | (?P<extension>\[[A-Za-z0-9_./\-]+\])
          | (?P<mark>[{}<>:;,\[\]]) )""",
    re.VERBOSE,
)
_CLOSING = {"{": "}", "<": ">"}
_MAX_DEPTH = 100


def parse(text):
    """The message as {field: [values]}: messages as such dicts, strings as str (bytes that are no UTF-8 as surrogates),
    everything else (numbers, enum names, true and false) as the str that stands there.

    Raises:
        ValueError: naming the line that cannot be read.
    """
    return _Reader(text + "\n").message(None, 0)


class _Reader:
    def __init__(self, text):
        self._text = text
        self._at = 0
        self._kind = self._token = None
        self._advance()

    def message(self, closing, depth):
        if depth > _MAX_DEPTH:
            self._fail("nested too deep")
        fields = {}
        while self._token != closing:
            if self._kind not in ("word", "extension"):
                self._fail("expected the name of a field")
            name = self._advance()
            values = fields.setdefault(name, [])
            has_colon = self._skip(":")
            if self._skip("["):
                while not self._skip("]"):
                    values.append(self._value(depth))
                    self._skip(",")
            elif has_colon or self._token in _CLOSING:
                values.append(self._value(depth))
            else:
                self._fail(f"expected a value of {name}")
            self._skip(",") or self._skip(";")
        return fields

    def _value(self, depth):
        if self._token in _CLOSING:
            closing = _CLOSING[self._advance()]
            message = self.message(closing, depth + 1)
            self._advance()
            return message
        if self._kind == "string":
            pieces = []
            while self._kind == "string":  # pieces one after another are one string
                pieces.append(self._string(self._advance()))
            return "".join(pieces)
        if self._kind != "word":
            self._fail("expected a value")
        return self._advance()

    def _string(self, token):
        try:
            return ast.literal_eval("b" + token).decode("utf-8", "surrogateescape")
        except (SyntaxError, ValueError):
            # Characters beyond ASCII stand for their UTF-8 bytes.
            return ast.literal_eval(token)

    def _skip(self, mark):
        if self._kind == "mark" and self._token == mark:
            self._advance()
            return True
        return False

    def _advance(self):
        """Goes to the next token; the one before it."""
        before = self._token
        match = _TOKEN.match(self._text, self._at)
        if match is not None:
            self._at, self._kind, self._token = match.end(), match.lastgroup, match[match.lastgroup]
        elif self._text[self._at :].strip() == "" or self._only_comments_follow():
            self._at, self._kind, self._token = len(self._text), None, None
        else:
            self._fail("unreadable text")
        return before

    def _only_comments_follow(self):
        lines = self._text[self._at :].splitlines()
        return all(not line.strip() or line.strip().startswith("#") for line in lines)

    def _fail(self, reason):
        line = self._text.count("\n", 0, self._at) + 1
        raise ArgumentError(f"line {line}: {reason}: no protobuf text format")
