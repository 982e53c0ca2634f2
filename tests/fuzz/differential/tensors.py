"""Questions about serialized TensorProtos, alone and inside Examples, and about raw bytes."""

import math

import numpy as np
import tensorflow as tf
from same import assert_same_array
from tensor_proto_cases import CASES, NUMBERS
from tensorflow.core.framework import tensor_pb2
from wire_bytes import varint

import headrace as hr

from . import reading, rules, wire
from .examples import ExampleQuestion, corpus
from .tensorflow_side import Graph

_MANY = 1_000_000
_MOST_FILLED = 2**30  # elements: no message that is short enough to be mutated holds so many
# The field that holds the values of a dtype when they are not in tensor_content, and its limits where it holds more.
_TYPED = {
    "float32": "float_val",
    "float64": "double_val",
    "string": "string_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    **{name: "int_val" for name in ("int8", "int16", "int32", "uint8", "uint16")},
}
_CONTENT = 4
_RESOURCE_AND_VARIANT = (14, 15)
# The wire types of each field of values; numbers may be packed.
_VALUES = {
    **{number: (wire.VARINT, wire.BYTES) for number in (7, 10, 11, 13, 16, 17)},
    **{number: (wire.FIXED32, wire.BYTES) for number in (5, 9)},
    **{number: (wire.FIXED64, wire.BYTES) for number in (6, 12)},
    **{number: (wire.BYTES,) for number in (8, 18)},
}
_FIELDS = sorted({*_TYPED.values(), "float8_val"})
_LIMITS_OF_32_BITS = {7: (-(2**31), 2**31 - 1), 16: (0, 2**32 - 1)}


def proto_of(data):
    """The message, None when protobuf refuses the bytes."""
    try:
        return tensor_pb2.TensorProto.FromString(data)
    except Exception as error:
        if type(error).__name__ != "DecodeError":
            raise
        return None


def plain_tensor(data):
    """A TensorProto in the plainest form, and the names of rules.TENSOR_FORMS that were met: short tags and lengths, no
    resources and variants, no value of a wrong wire type, no values beside tensor_content."""
    names = set()
    try:
        parts = list(wire.fields(data))
        kept = [part for part in parts if not (part.number in _RESOURCE_AND_VARIANT and part.wire_type == wire.BYTES)]
        if len(kept) < len(parts):
            names.add("resource or variant")
        if any(part.number in _VALUES and part.wire_type not in _VALUES[part.number] for part in kept):
            names.add("value of a wrong wire type")
        contents = [part.value for part in kept if part.is_bytes(_CONTENT)]
        if contents and contents[-1] and any(part.number in _VALUES for part in kept):
            names.add("values beside tensor_content")
            kept = [part for part in kept if part.number not in _VALUES]
        if any(_is_cut_to_32_bits(part) for part in kept):
            names.add("more than 32 bits")
        return b"".join(_short(part, names, 0) for part in kept), names
    except wire.Malformed:
        return data, set()


def _is_cut_to_32_bits(part):
    """Whether protobuf takes the low bits of a value of int_val or uint32_val."""
    if part.number not in _LIMITS_OF_32_BITS or part.wire_type not in _VALUES[part.number]:
        return False
    least, most = _LIMITS_OF_32_BITS[part.number]
    values = wire.varints(part.value) if part.wire_type == wire.BYTES else [part.value]
    return any(not least <= (reading.signed(value) if least else value) <= most for value in values)


def _short(part, names, depth):
    """The field with its tag and length, and those of a shape and its dims, in as few bytes as they need."""
    rest = part.raw[part.tag_bytes :]
    length_bytes = 0
    if part.wire_type == wire.BYTES:
        value = part.value
        length_bytes = len(rest) - len(value)
        if part.number == 2 and depth == 2 and not _is_utf8(value):
            names.add("name of a dimension that is no UTF-8")
            value = b""
        if part.number == 2 and depth < 2:
            value = b"".join(_short(inner, names, depth + 1) for inner in wire.fields(value))
        rest = varint(len(value)) + value
    if part.tag_bytes > 5 or length_bytes > 5:
        names.add("tag or length of more than 5 bytes")
    return varint(part.number << 3 | part.wire_type) + rest


def _is_utf8(value):
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def elements_of(proto):
    """Elements that its shape claims; over a million when a dimension alone does."""
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    return 0 if 0 in sizes else min(math.prod(abs(size) for size in sizes), 2**64)


def largest(proto):
    """Elements that a reader might set out to make on the way to an error; over a million, too, for more dimensions than NumPy
    has."""
    if len(proto.tensor_shape.dim) > 64:
        return 2**64
    return max([1, *(abs(dim.size) for dim in proto.tensor_shape.dim), elements_of(proto)])


def tensor_rule(proto, dtype, names):
    """`names`: what was met in it. The name of what headrace refuses in a TensorProto that TensorFlow takes; None when there is nothing."""
    if proto.tensor_shape.unknown_rank:
        return "unknown rank"
    if proto.tensor_content:
        return "more values than elements" if elements_of(proto) == 0 else None
    typed = _TYPED[dtype]
    values = getattr(proto, typed)
    if "value of a wrong wire type" in names:
        return "value of a wrong wire type"
    others = any(len(getattr(proto, name)) for name in _FIELDS if name != typed)
    if others or "resource or variant" in names:
        return "values in the field of another type"
    parts = 2 if "complex" in dtype else 1
    if len(values) % parts:
        return "complex number without its second half"
    if len(values) > parts * elements_of(proto):
        return "more values than elements"
    if typed in ("int_val", "uint32_val") and "more than 32 bits" in names:
        return "int_val out of range"
    if typed == "int_val":
        limits = np.iinfo(dtype)
        if any(not limits.min <= value <= limits.max for value in values):
            return "int_val out of range"
    return None


def same_arrays(ours, theirs):
    """Both with numpy(), which of one string gives bytes."""
    kind = object if theirs.dtype == tf.string else None
    found, wanted = (np.asarray(each.numpy(), kind) for each in (ours, theirs))
    try:
        assert_same_array(found, wanted)
    except AssertionError:
        return False
    return True


class TensorQuestion:
    """tf.io.parse_tensor of one dtype."""

    def __init__(self, dtype):
        self.name = f"parse_tensor {dtype}"
        self.forms = frozenset(rules.TENSOR_FORMS)
        self.faults = frozenset()
        self.dtype = dtype
        self._out_type = tf.as_dtype(dtype)
        self.theirs = Graph(lambda protos: tf.io.parse_tensor(protos[0], self._out_type))

    def seeds(self, random):
        cases = [case.proto for case in CASES]
        short = [case for case in CASES if case.dtype == self.dtype and len(case.proto) < 100]
        own = [case.proto for case in short if case.theirs is None and not isinstance(case.ours, str)]
        return own * 8 + cases + corpus("tensor_proto")

    def read(self, record):
        plain, names = plain_tensor(record)
        return reading.Reading(features={b"": ("string", (plain,))}, names=names)

    def written(self, read):
        return read.features[b""][1][0]

    def not_asked(self, record):
        proto = proto_of(self.written(self.read(record)))
        return rules.TOO_LARGE if proto is not None and largest(proto) > _MANY else None

    def claims_too_much(self, record):
        """Of a record that is TOO_LARGE: must headrace refuse it?"""
        return elements_of(proto_of(self.written(self.read(record)))) > _MOST_FILLED

    def value_rule(self, read):
        proto = proto_of(self.written(read))
        return None if proto is None or proto.dtype != NUMBERS[self.dtype] else tensor_rule(proto, self.dtype, read.names)

    def ours_accepts(self, records):
        return np.array([self._parsed(record) is not None for record in records], bool)

    def _parsed(self, record):
        try:
            return hr.parse_tensor(record, self._out_type)
        except hr.SchemaError:
            return None

    def same(self, ours, theirs):
        return all(same_arrays(self._parsed(a), self.theirs.parse([b])) for a, b in zip(ours, theirs))


class NestedTensors(ExampleQuestion):
    """TensorFeature of a fixed shape: parse_tensor inside parse_example."""

    def __init__(self, dtype, array):
        shape = list(array.shape)
        self.dtype, self.shape, self._array = dtype, shape, array
        self.protos = [tf.io.serialize_tensor(array).numpy(), tf.make_tensor_proto(array).SerializeToString()]
        super().__init__(f"TensorFeature {dtype}", {"t": tf.io.FixedLenFeature([], tf.string)}, self._record)
        self.forms |= frozenset(rules.TENSOR_FORMS)
        self._use({"t": hr.TensorFeature(shape, tf.as_dtype(dtype))}, self._decoded)

    def _record(self, random):
        return {"t": random.choice(self.protos)}

    def _decoded(self, strings):
        one = lambda proto: tf.ensure_shape(tf.io.parse_tensor(proto, tf.as_dtype(self.dtype)), self.shape)
        return tf.map_fn(one, strings, fn_output_signature=tf.TensorSpec(self.shape, tf.as_dtype(self.dtype)))

    def read(self, record):
        read = super().read(record)
        kind, values = read.features.get(b"t", reading.NO_KIND)
        if kind == "string" and len(values) == 1:
            plain, names = plain_tensor(values[0])
            if names:
                read.names |= names
                read.features[b"t"] = (kind, (plain,))
        return read

    def _proto(self, read):
        kind, values = read.features.get(b"t", reading.NO_KIND)
        return proto_of(values[0]) if kind == "string" and len(values) == 1 else None

    def not_asked(self, record):
        proto = self._proto(self.read(record))
        return rules.TOO_LARGE if proto is not None and largest(proto) > _MANY else super().not_asked(record)

    def claims_too_much(self, record):
        return elements_of(self._proto(self.read(record))) > _MOST_FILLED

    def value_rule(self, read):
        proto = self._proto(read)
        right = proto is not None and proto.dtype == NUMBERS[self.dtype]
        return tensor_rule(proto, self.dtype, read.names) if right else None


class RawBytes(ExampleQuestion):
    """RawFeature of a fixed shape, and of a fixed length: decode_raw inside parse_example."""

    def __init__(self, dtype, little_endian, fixed_length):
        self._dtype, self._little, self._length = tf.as_dtype(dtype), little_endian, fixed_length
        kind = f"fixed_length={fixed_length}" if fixed_length else "[3]"
        order = "little" if little_endian else "big"
        super().__init__(f"RawFeature {dtype} {kind} {order}", {"t": tf.io.FixedLenFeature([], tf.string)}, self._record)
        shape = None if fixed_length else [3]
        self._use({"t": hr.RawFeature(shape, self._dtype, little_endian, fixed_length=fixed_length)}, self._decoded)

    def _record(self, random):
        return {"t": random.randbytes(random.randrange(20) if self._length else 3 * self._dtype.size)}

    def _decoded(self, strings):
        values = tf.io.decode_raw(strings, self._dtype, self._little, self._length)
        return values if self._length else tf.ensure_shape(values, [None, 3])


def tensors():
    dtypes = ("float32", "string", "int32", "uint8", "int64", "float16", "bool", "complex64", "bfloat16", "uint64")
    nested = (
        NestedTensors("float32", np.float32([[1, -0.0], [np.nan, 3]])),
        NestedTensors("int32", np.array([1, -2, 300], np.int32)),
        NestedTensors("string", np.array([b"a", b"text"], object)),
    )
    raw = (RawBytes("int16", True, 8), RawBytes("float32", False, 8), RawBytes("float64", True, None))
    return [*map(TensorQuestion, dtypes), *nested, *raw]
