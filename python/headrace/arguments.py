"""Checks of arguments that are the same everywhere. Each failure names parameter and value."""

import operator
import os

from .errors import ArgumentError

COMPRESSIONS = ("auto", "none", "gzip", "zlib", "zstd", "snappy")
_INT64 = range(-(2**63), 2**63)


def integer(parameter, value, minimum=None):
    """`value` as an int that fits int64; ValueError otherwise."""
    if isinstance(value, bool):
        raise ArgumentError(f"{parameter}={value!r}: must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{parameter}={value!r}: must be a whole number") from None
    if number not in _INT64:
        raise ArgumentError(f"{parameter}={number}: does not fit 64 bits")
    if minimum is not None and number < minimum:
        raise ArgumentError(f"{parameter}={number}: must be at least {minimum}")
    return number


def optional_integer(parameter, value, minimum=None):
    """The same, or None."""
    return None if value is None else integer(parameter, value, minimum)


def small_integer(parameter, value, minimum=None):
    """The same for a value that the engine keeps in 32 bits."""
    number = integer(parameter, value, minimum)
    if abs(number) >= 2**31:
        raise ArgumentError(f"{parameter}={number}: too large")
    return number


def compression(value):
    """The engine's word for a kind of compression. TensorFlow's are taken too: "", "GZIP", "ZLIB"."""
    words = {"": "none", None: "none", **{word: word for word in COMPRESSIONS}}
    word = value.lower() if isinstance(value, str) and value in ("GZIP", "ZLIB") else value
    if not (word is None or isinstance(word, str)) or word not in words:
        raise ArgumentError(f"compression={value!r}: must be one of {', '.join(map(repr, COMPRESSIONS))}")
    return words[word]


def level(value):
    """A level of compression, or None for the usual one; the engine knows which there are."""
    return None if value is None else small_integer("level", value)


def path(parameter, value):
    """A path as the bytes that the system takes."""
    try:
        return os.fsencode(os.fspath(value))
    except TypeError:
        raise ArgumentError(f"{parameter}={value!r}: must be a path") from None
