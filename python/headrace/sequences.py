"""SequenceExamples: what to expect in their context and in their feature lists, and parsing those that the caller holds."""

from . import _core, arguments
from .errors import ArgumentError
from .features import FixedLenSequenceFeature, RaggedFeature, VarLenFeature, to_core, to_specs
from .parsing import rank_of, to_strings

_LIST_SPECS = (FixedLenSequenceFeature, VarLenFeature, RaggedFeature)


def to_sequence_schema(context_features, sequence_features, origin=False):
    """The engine's Schema of SequenceExamples, as Dataset.parse_sequence documents its columns; and {name: spec}.

    Raises:
        ValueError: naming the feature and what is wrong with it.
    """
    context, lists = _to_specs(context_features, sequence_features)
    for name in lists:
        if name in context:
            raise ArgumentError(
                f"feature {name!r}: the name is in context_features and in sequence_features, but is one column: "
                "give one of them another name, and key= or value_key= the name in the record",
                key=name,
            )
    columns = [to_core(name, spec) for name, spec in context.items()]
    for name, spec in lists.items():
        columns += _list_columns(name, spec, name, f"{name}_lengths")
    return _core.Schema(columns, bool(origin), True), {**context, **lists}


def parse_sequence_example(serialized, context_features=None, sequence_features=None, num_threads=1):
    """Parses serialized SequenceExamples; tf.io.parse_sequence_example.

    Args:
        serialized: n of them in one dimension, in any form that headrace.parsing takes.
        context_features: {name: spec}, any spec but FixedLenSequenceFeature; of headrace or of tf.io.
        sequence_features: {name: spec}, FixedLenSequenceFeature, VarLenFeature or RaggedFeature.
        num_threads: threads to parse on, >= 1.

    Returns:
        (context, sequences, lengths), three dicts of columns in the order of the specs. context: as parse_example.
        sequences: FixedLenSequenceFeature dense [n, longest, *shape], padded with 0 or b""; VarLenFeature a Ragged
        [n, None, None]; RaggedFeature a Ragged [n, None, ...], with the partitions of each step inside; the first None are
        the steps. lengths: int64 [n], the steps of each FixedLenSequenceFeature.

    Raises:
        SchemaError: at the first record that does not fit, with its row, key and step.
        ValueError: for specs and arguments that cannot be.
    """
    strings = to_strings("serialized", serialized)
    rank = rank_of(strings)
    if rank != 1:
        raise ArgumentError(f"serialized: expected one dimension, found {rank}; parse_single_sequence_example takes one record")
    schema, places = _schema_by_part(context_features, sequence_features)
    threads = arguments.small_integer("num_threads", num_threads, minimum=1)
    return _parts(places, _core.parse_example(strings, schema, threads))


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None):
    """Parses one serialized SequenceExample; tf.io.parse_single_sequence_example.

    Args:
        serialized: bytes.
        context_features, sequence_features: as for parse_sequence_example.

    Returns:
        (context, sequences), two dicts of columns without a dimension for the batch. context: as parse_single_example.
        sequences: FixedLenSequenceFeature dense [steps, *shape]; VarLenFeature a Ragged [steps, None]; RaggedFeature a
        Ragged [steps, None, ...].

    Raises:
        SchemaError: when the SequenceExample does not fit, with its key and step.
        ValueError: for specs and arguments that cannot be.
    """
    strings = to_strings("serialized", serialized)
    if not isinstance(strings, bytes):
        raise ArgumentError("serialized: expected one bytes object; parse_sequence_example takes several")
    schema, places = _schema_by_part(context_features, sequence_features)
    return _parts(places, _core.parse_single_example(strings, schema))[:2]


def _parts(places, columns):
    """(context, sequences, lengths) of the columns of a schema of _schema_by_part()."""
    parts = {}, {}, {}
    for (part, name), column in zip(places, columns.values()):
        parts[part][name] = column
    return parts


def _schema_by_part(context_features, sequence_features):
    """The Schema, and of each of its columns where it belongs: (0 context, 1 sequences or 2 lengths, name)."""
    context, lists = _to_specs(context_features, sequence_features)
    columns = [to_core(name, spec) for name, spec in context.items()]
    places = [(0, name) for name in context]
    for name, spec in lists.items():
        # The three parts may use one name; columns may not.
        added = _list_columns(name, spec, f"sequence_features[{name!r}]", f"lengths[{name!r}]")
        places += [(1, name), (2, name)][: len(added)]
        columns += added
    return _core.Schema(columns, False, True), places


def _to_specs(context_features, sequence_features):
    context = {} if context_features is None else to_specs("context_features", context_features)
    lists = {} if sequence_features is None else to_specs("sequence_features", sequence_features)
    for name, spec in lists.items():
        if not isinstance(spec, _LIST_SPECS):
            kinds = ", ".join(kind.__name__ for kind in _LIST_SPECS)
            raise ArgumentError(
                f"feature {name!r}: Unsupported {type(spec).__name__} in sequence_features; expected {kinds}", key=name
            )
    return context, lists


def _list_columns(name, spec, column, length_column):
    """The core Features of one feature list: itself and, when it is dense, the number of its steps."""
    feature = to_core(name, spec)
    feature.key = feature.key or name
    feature.name = column
    feature.feature_list = True
    if not isinstance(spec, FixedLenSequenceFeature):
        return [feature]
    length = _core.Feature(length_column, "list_length", "int64", [], key=feature.key)
    length.feature_list = True
    return [feature, length]
