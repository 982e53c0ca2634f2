"""Whether records fit feature specs: told by parsing them, so that the parser's rules are the only ones."""

from . import _core
from .errors import SchemaError
from .features import to_schema
from .key_patterns import keys_of
from .parsing import parse_example

# Records that are parsed at once: enough to make the call cheap, few enough to hold little of large ones.
_RECORDS = 64


def differences(features, records):
    """What in `records` does not fit `features`: a list of lines of text, empty when everything fits.

    A line per feature that some record does not fit (the first such record, counted from 0), per key that no record has,
    and per key of the records that no spec asks for.

    Args:
        features: {name: spec}.
        records: a list of bytes.

    Raises:
        ValueError: for specs that cannot be.
    """
    to_schema(features)
    examples, found = _examples(records)
    keys = {key for _, listed in examples for key in listed}
    wanted = set()
    for name, spec in features.items():
        asked = keys_of(name, spec)
        wanted.update(asked)
        missing = [key for key in asked if key not in keys]
        if examples and missing:
            found.append(f"{name}: no record has the key {', '.join(map(repr, missing))}")
            continue
        failure = _first_failure(name, spec, [(number, records[number]) for number, _ in examples])
        if failure:
            found.append(failure)
    found += [f"{key}: not in the schema" for key in _in_order(examples) if key not in wanted]
    return found


def _examples(records):
    """[(number, keys)] of the records that are Examples; a line about the others."""
    examples, broken = [], []
    for number, record in enumerate(records):
        try:
            listed, _ = _core.read_example(record)
        except SchemaError:
            broken.append(number)
            continue
        examples.append((number, [key for key, kind, _, _ in listed if kind is not None]))
    if not broken:
        return examples, []
    return examples, [f"record {broken[0]} is no tf.train.Example ({len(broken)} of {len(records)} are not)"]


def _first_failure(name, spec, numbered):
    for begin in range(0, len(numbered), _RECORDS):
        part = numbered[begin : begin + _RECORDS]
        try:
            parse_example([record for _, record in part], {name: spec})
        except SchemaError as error:
            return f"{name}: record {part[error.row][0]}: {error.message}"
    return None


def _in_order(examples):
    return dict.fromkeys(key for _, listed in examples for key in listed)
