"""TensorFlow's feature specs (tf.io.*), recognised by name and read by attribute: TensorFlow is never imported here."""

from .errors import ArgumentError


def translate(name, spec):
    """The spec of headrace.features that means the same as `spec`, or None when it is none of TensorFlow's.

    Raises:
        ValueError: for one that has no counterpart.
    """
    kind = type(spec)
    if not kind.__module__.startswith(("tensorflow.", "tensorflow_core.")):
        return None
    maker = _MAKERS.get(kind.__name__)
    if maker is None:
        raise ArgumentError(f"feature {name!r}: tf.io.{kind.__name__} is not supported", key=name)
    return maker(spec)


def _fixed_len(spec):
    from .features import FixedLenFeature

    return FixedLenFeature(spec.shape, spec.dtype, _plain(spec.default_value))


def _var_len(spec):
    from .features import VarLenFeature

    return VarLenFeature(spec.dtype)


def _sequence(spec):
    from .features import FixedLenSequenceFeature

    return FixedLenSequenceFeature(spec.shape, spec.dtype, spec.allow_missing, _plain(spec.default_value))


def _ragged(spec):
    from . import features

    partitions = []
    for partition in spec.partitions or ():
        kind = type(partition).__name__
        ours = getattr(features.RaggedFeature, kind, None)
        if ours is None:
            raise ArgumentError(f"partitions: {partition!r} is no partition")
        partitions.append(ours(partition.length if kind == "UniformRowLength" else partition.key))
    return features.RaggedFeature(spec.dtype, spec.value_key, tuple(partitions), spec.row_splits_dtype, spec.validate)


def _sparse(spec):
    from .features import SparseFeature

    return SparseFeature(spec.index_key, spec.value_key, spec.dtype, spec.size, spec.already_sorted)


_MAKERS = {
    "FixedLenFeature": _fixed_len,
    "VarLenFeature": _var_len,
    "FixedLenSequenceFeature": _sequence,
    "RaggedFeature": _ragged,
    "SparseFeature": _sparse,
}


def _plain(value):
    """A tensor as its numpy value; anything else as it is."""
    return value.numpy() if hasattr(value, "numpy") and not isinstance(value, (bytes, str)) else value
