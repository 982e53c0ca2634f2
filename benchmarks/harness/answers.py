"""Are the answers of two contenders the same? One digest over the multiset of records, whatever their order.

A record's hash is a sum over its 8-byte words times pseudo-random odd weights (another set for each column); the
digest is SHA-256 over the sorted hashes, so that equal digests mean the same records, bit for bit, up to a 2^-64
chance a pair.
"""

import hashlib

import numpy as np

from benchmarks.harness.columns import Ragged


def splitmix64(values):
    """A fixed bijection of 64-bit integers that scatters them; the same on every machine and NumPy version."""
    with np.errstate(over="ignore"):
        x = np.asarray(values, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


class _Weights:
    """Weights of one column, grown as needed."""

    def __init__(self, column):
        self._base = np.uint64(column << 40)
        self._weights = np.empty(0, np.uint64)

    def first(self, count):
        if count > len(self._weights):
            self._weights = splitmix64(self._base + np.arange(max(count, 64), dtype=np.uint64)) | np.uint64(1)
        return self._weights[:count]


def _words(array, rows):
    """The bytes of each row, padded with zeros to whole 8-byte words: uint64 [rows, words]."""
    data = np.ascontiguousarray(array).reshape(rows, -1).view(np.uint8)
    missing = -data.shape[1] % 8
    if missing:
        data = np.pad(data, ((0, 0), (0, missing)))
    return data.view(np.uint64)


class Answers:
    """Takes batches one by one; digest() compares them with another contender's."""

    def __init__(self):
        self._weights = {}
        self._hashes = []
        self._signature = None
        self.records = 0

    def add(self, columns):
        """`columns`: name -> column (see columns.py). All batches must have the same names, dtypes and row shapes."""
        signature = [(name, self._kind(columns[name])) for name in sorted(columns)]
        if self._signature is None:
            self._signature = signature
        elif signature != self._signature:
            raise ValueError(f"columns changed from {self._signature} to {signature}")
        total = None
        for number, name in enumerate(sorted(columns)):
            weights = self._weights.setdefault(name, _Weights(number + 1))
            part = splitmix64(self._rows(columns[name], weights))
            total = part * np.uint64(2 * number + 1) if total is None else total + part * np.uint64(2 * number + 1)
        self._hashes.append(total)
        self.records += len(total)

    @staticmethod
    def _kind(column):
        if isinstance(column, np.ndarray):
            return f"{column.dtype}{list(column.shape[1:])}"
        return f"ragged {column.values.dtype}" if isinstance(column, Ragged) else "strings"

    @staticmethod
    def _rows(column, weights):
        if isinstance(column, np.ndarray):
            rows = len(column)
            if column.size == rows and column.itemsize == 8:
                return column.reshape(rows).view(np.uint64) * weights.first(1)[0]
            words = _words(column, rows)
            return (
                np.einsum("rw,w->r", words, weights.first(words.shape[1])) if words.size else np.zeros(rows, np.uint64)
            )
        if isinstance(column, Ragged):
            splits = np.asarray(column.row_splits, np.int64)
            lengths = np.diff(splits)
            within = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
            words = (
                _words(column.values, max(len(column.values), 1)) if len(column.values) else np.zeros((0, 1), np.uint64)
            )
            products = words[:, 0] * weights.first(int(lengths.max(initial=0)) + 1)[within + 1]
            sums = np.concatenate([[np.uint64(0)], np.cumsum(products, dtype=np.uint64)])
            return sums[splits[1:]] - sums[splits[:-1]] + lengths.astype(np.uint64) * weights.first(1)[0]
        digests = b"".join(hashlib.blake2b(row, digest_size=8).digest() for row in column.rows())
        return np.frombuffer(digests, np.uint64) * weights.first(1)[0]

    def digest(self):
        """Signature, number of records and hash as one text; equal texts mean equal answers."""
        hashes = np.sort(np.concatenate(self._hashes)) if self._hashes else np.empty(0, np.uint64)
        text = f"{self._signature} {self.records} "
        return text + hashlib.sha256(text.encode() + hashes.tobytes()).hexdigest()[:32]
