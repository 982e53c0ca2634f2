"""A workload as TensorFlow sees it: parse functions before and after batching, and the columns of a batch.

Ways of decoding a serialized TensorProto in a whole batch, a choice of the caller:
- map_fn: tf.map_fn over tf.io.parse_tensor, the only general way
- decode_proto: tf.io.decode_proto with the built-in descriptor, then decode_raw; needs tensor_content
- substr: the payload sits at a fixed offset in every record of this data; decode_raw of the substring
"""

import numpy as np
import tensorflow as tf

from benchmarks.harness.columns import Ragged


def specs(workload):
    result = {}
    for name, feature in workload.features.items():
        if feature.kind == "ragged":
            result[name] = tf.io.RaggedFeature(tf.as_dtype(feature.dtype), row_splits_dtype=tf.int64)
        elif feature.kind == "fixed":
            dtype = tf.string if feature.dtype == "bytes" else tf.as_dtype(feature.dtype)
            result[name] = tf.io.FixedLenFeature(list(feature.shape), dtype)
        else:
            result[name] = tf.io.FixedLenFeature([], tf.string)
    return result


_STEPS = {"scale": lambda x, mul, add: x * mul + add, "cast": tf.cast, "mod": tf.math.floormod}


def _transform(values, feature):
    for step, *arguments in feature.transform:
        values = _STEPS[step](values, *arguments)
    return values


def parse_single(workload):
    """Serialized Example -> features, one record at a time: the program people start from."""
    wanted = specs(workload)

    def parse(serialized):
        parsed = tf.io.parse_single_example(serialized, wanted)
        for name, feature in workload.features.items():
            if feature.kind == "tensor":
                parsed[name] = tf.reshape(tf.io.parse_tensor(parsed[name], tf.as_dtype(feature.dtype)), feature.shape)
            elif feature.kind == "raw":
                parsed[name] = tf.reshape(tf.io.decode_raw(parsed[name], tf.as_dtype(feature.dtype)), feature.shape)
            parsed[name] = _transform(parsed[name], feature)
        return parsed

    return parse


def _tensors(serialized, feature, way):
    dtype = tf.as_dtype(feature.dtype)
    shape = [-1, *feature.shape]
    if way == "map_fn":
        signature = tf.TensorSpec(feature.shape, dtype)

        def one(value):
            return tf.ensure_shape(tf.io.parse_tensor(value, dtype), feature.shape)

        return tf.map_fn(one, serialized, fn_output_signature=signature)
    if way == "decode_proto":
        _, fields = tf.io.decode_proto(
            serialized, "tensorflow.TensorProto", ["tensor_content"], [tf.string], descriptor_source="local://"
        )
        return tf.reshape(tf.io.decode_raw(fields[0], dtype), shape)
    size = int(np.prod(feature.shape)) * dtype.size
    return tf.reshape(tf.io.decode_raw(tf.strings.substr(serialized, -size, size), dtype), shape)


def parse_batch(workload, way="decode_proto"):
    """Serialized Examples -> features, a batch at a time: the usual advice."""
    wanted = specs(workload)

    def parse(serialized):
        parsed = tf.io.parse_example(serialized, wanted)
        for name, feature in workload.features.items():
            if feature.kind == "tensor":
                parsed[name] = _tensors(parsed[name], feature, way)
            elif feature.kind == "raw":
                parsed[name] = tf.reshape(
                    tf.io.decode_raw(parsed[name], tf.as_dtype(feature.dtype)), [-1, *feature.shape]
                )
            parsed[name] = _transform(parsed[name], feature)
        return parsed

    return parse


class Strings:
    """A string tensor: touched by a hash over every byte (TensorFlow's own op; `numpy()` would copy every string)."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __len__(self):
        return self._tensor.shape[0]

    def touch(self):
        return tf.strings.to_hash_bucket_fast(self._tensor, 1 << 30)

    def rows(self):
        return list(self._tensor.numpy().reshape(-1))


def array(tensor):
    """A NumPy view of an eager tensor; `numpy()` would copy. Of bfloat16, which NumPy has not, the words."""
    if tensor.dtype == tf.bfloat16:
        tensor = tf.bitcast(tensor, tf.uint16)
    return np.asarray(memoryview(tensor))


def column(value):
    """A tensor in the words of harness/columns.py, without a copy."""
    if isinstance(value, tf.RaggedTensor):
        return Ragged(array(value.values), array(value.row_splits))
    return Strings(value) if value.dtype == tf.string else array(value)


def columns(batch):
    return {name: column(value) for name, value in batch.items()}
