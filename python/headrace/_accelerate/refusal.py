"""Why a program is left as it is."""

import re

# TensorFlow's words around an error: where in a graph it happened.
_NODE = re.compile(r"\{\{[^}]*\}\}")


class Refused(Exception):
    """This dataset is not taken over; the text is the reason, one line."""


def brief(error):
    """The line of an error's text that says most."""
    lines = [_NODE.sub("", line).strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith(("in user code", "File ", "Stack trace", "[[]]"))]
    return f"{type(error).__name__}: {telling[-1][:200] if telling else ''}"
