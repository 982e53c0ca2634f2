"""TensorFeature and RawFeature: every dtype and form, unknown dimensions, bytes of a fixed length."""

import headrace as hr
import numpy as np
import pytest
from number_shards import write_shard
from tensor_proto_cases import CASES


def parse(spec, values, key="t"):
    return hr.parse_example([hr.make_example({key: value}) for value in values], {key: spec})[key]


def image(array):
    """Shape and bits; strings as they are."""
    return array.shape, array.tolist() if array.dtype == object else array.tobytes()


def tensors(dtype, *arrays):
    return [hr.make_tensor(np.array(array, dtype)) for array in arrays]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tensor_proto(case):
    spec = hr.TensorFeature(case.shape, case.dtype)
    if isinstance(case.ours, str):
        with pytest.raises(hr.SchemaError, match=case.ours) as caught:
            parse(spec, [case.proto])
        assert caught.value.key == "t" and caught.value.row == 0
        with pytest.raises(hr.SchemaError, match=case.ours):
            hr.parse_tensor(case.proto, case.dtype)
        return
    column = parse(spec, [case.proto])
    assert image(hr.parse_tensor(case.proto, case.dtype).numpy()) == image(column.numpy()[0])
    if case.dtype == "string":
        assert column.numpy()[0].tolist() == case.ours.tolist()
        return
    found = column.numpy()
    assert found.shape == (1, *case.ours.shape)
    assert column.dtype == case.dtype and found.dtype.name == case.dtype
    assert found.tobytes() == case.ours.tobytes()


@pytest.mark.parametrize("dtype", sorted({case.dtype for case in CASES}))
def test_bad_protos_are_left_out_of_a_pipeline_one_by_one(tmp_path, dtype):
    """The open dimension makes rows of every length fit."""
    cases = [case for case in CASES if case.dtype == dtype and (isinstance(case.ours, str) or case.ours.ndim == 1)]
    path = write_shard(tmp_path / "protos", [hr.make_example({"t": case.proto}) for case in cases])
    batches = hr.TFRecordDataset(path, on_mismatch="skip").batch(5).parse({"t": hr.TensorFeature([None], dtype)})
    wanted = np.concatenate([case.ours for case in cases if not isinstance(case.ours, str)])
    assert image(np.concatenate([batch["t"].flat_values.numpy() for batch in batches])) == image(wanted)


def test_ragged_is_the_default():
    column = parse(hr.TensorFeature([None, 2], hr.int32), tensors(np.int32, [[1, 2], [3, 4]], np.zeros((0, 2)), [[5, 6]]))
    assert isinstance(column, hr.Ragged)
    assert column.tolist() == [[[1, 2], [3, 4]], [], [[5, 6]]]
    assert column.values.shape == (3, 2)
    nested = parse(hr.TensorFeature([2, None], hr.float32), tensors(np.float32, [[1], [2]], [[3, 4], [5, 6]]))
    assert nested.tolist() == [[[1], [2]], [[3, 4], [5, 6]]]


def test_padded():
    values = tensors(np.float32, [[1, 2]], [[3], [4]])
    zeros = parse(hr.TensorFeature([None, None], hr.float32, unknown_dims="padded"), values)
    assert zeros.numpy().tolist() == [[[1, 2], [0, 0]], [[3, 0], [4, 0]]]
    spec = hr.TensorFeature([None, None], hr.float32, unknown_dims="padded", padding_value=-1)
    assert parse(spec, values).numpy().tolist() == [[[1, 2], [-1, -1]], [[3, -1], [4, -1]]]


def test_the_shape_is_taken_from_the_record():
    column = parse(hr.TensorFeature(None, hr.int64), tensors(np.int64, [[1, 2, 3]], [[4, 5, 6]]))
    assert column.numpy().tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    with pytest.raises(hr.SchemaError, match=r"Cannot batch tensors with different shapes.*\[2\], this one \[3\]") as caught:
        parse(hr.TensorFeature(None, hr.int64), tensors(np.int64, [1, 2], [3, 4], [5, 6, 7]))
    assert caught.value.row == 2
    ragged = parse(hr.TensorFeature(None, hr.int64, unknown_dims="ragged"), tensors(np.int64, [1, 2], [3, 4, 5]))
    assert ragged.tolist() == [[1, 2], [3, 4, 5]]


def test_reshape():
    spec = hr.TensorFeature([None, 2], hr.int32, reshape=True)
    assert parse(spec, tensors(np.int32, [1, 2], [[[3], [4], [5], [6]]])).tolist() == [[[1, 2]], [[3, 4], [5, 6]]]
    with pytest.raises(hr.SchemaError, match=r"parsed tensor \[3\] and shape \[\?,2\]"):
        parse(spec, tensors(np.int32, [1, 2, 3]))


def test_string_tensors():
    from wire_bytes import field, varint_field

    def strings(*items):
        dims = field(2, field(2, varint_field(1, len(items))))
        return varint_field(1, 7) + dims + b"".join(field(8, item) for item in items)

    values = [strings(b"a", b"bc"), strings(), strings(b"d")]
    assert parse(hr.TensorFeature([None], hr.string), values).tolist() == [[b"a", b"bc"], [], [b"d"]]
    spec = hr.TensorFeature([None], hr.string, unknown_dims="padded", padding_value="-")
    assert parse(spec, values).tolist() == [[b"a", b"bc"], [b"-", b"-"], [b"d", b"-"]]


def test_a_pipeline_delivers_them(tmp_path):
    path = tmp_path / "tensors.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for size in range(6):
            writer.write(hr.make_example({"t": hr.make_tensor(np.arange(size, dtype=np.float32))}))
        writer.write(hr.make_example({"t": hr.make_tensor(np.zeros((1, 1), np.float32))}))
    read = hr.TFRecordDataset(str(path)).batch(2)
    ragged = read.parse({"t": hr.TensorFeature([None], hr.float32)}).prefetch_to_device(["/CPU:0", "/CPU:1"])
    with iter(ragged) as batches:
        assert next(batches)["t"].tolist() == [[], [0]]
        second = next(batches)
        assert [part["t"].tolist() for part in second.replicas] == [[[0, 1]], [[0, 1, 2]]]
    padded = read.parse({"t": hr.TensorFeature([None], hr.float32, unknown_dims="padded")})
    with iter(padded.prefetch_to_device(["/CPU:0", "/CPU:1"])) as batches:
        next(batches)
        batch = next(batches)
        assert [part["t"].numpy().tolist() for part in batch.replicas] == [[[0, 1, 0]], [[0, 1, 2]]]
        assert batch["t"].numpy().tolist() == [[0, 1, 0], [0, 1, 2]]
    with iter(read.parse({"t": hr.TensorFeature(None, hr.float32)})) as batches:
        assert next(batches)["t"].shape == (1, 0)  # the row in front of the one that differs
        with pytest.raises(hr.SchemaError, match="different shapes") as caught:
            next(batches)
        assert caught.value.record == 1 and caught.value.key == "t" and caught.value.path == str(path)


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int16", "uint32", "float64", "complex64", "bfloat16", "float8_e5m2"])
def test_raw_byte_order(dtype, little):
    data = bytes(range(32))
    column = parse(hr.RawFeature([None], dtype, little_endian=little), [data, b"", data[16:]])
    size = {"bool": 1, "float8_e5m2": 1, "int16": 2, "bfloat16": 2, "uint32": 4, "complex64": 4}.get(dtype, 8)
    wanted = [data, data[16:]]
    if dtype == "bool":
        wanted = [bytes(byte != 0 for byte in part) for part in wanted]
    elif not little:
        wanted = [b"".join(part[at : at + size][::-1] for at in range(0, len(part), size)) for part in wanted]
    assert column.flat_values.numpy().tobytes() == b"".join(wanted)
    per_row = 8 if dtype == "complex64" else size
    assert column.row_splits.numpy().tolist() == [0, 32 // per_row, 32 // per_row, 48 // per_row]


def test_raw_of_unknown_length():
    values = [b"\1\0\2\0", b"", b"\3\0"]
    assert parse(hr.RawFeature([None], hr.int16), values).tolist() == [[1, 2], [], [3]]
    padded = hr.RawFeature([None], hr.int16, unknown_dims="padded", padding_value=9)
    assert parse(padded, values).numpy().tolist() == [[1, 2], [9, 9], [3, 9]]
    assert parse(hr.RawFeature(None, hr.int16), [b"\1\0", b"\2\0"]).numpy().tolist() == [[1], [2]]
    assert parse(hr.RawFeature(None, hr.int16), [b"", b""]).shape == (2, 0)
    assert parse(hr.RawFeature([None, 2], hr.int16), [b"\1\0\2\0", b""]).tolist() == [[[1, 2]], []]


@pytest.mark.parametrize(
    "spec, values, text",
    [
        (hr.RawFeature(None, hr.int16), [b"ab", b"abcd"], "all be the same size, but this one has size 4 != 2"),
        (hr.RawFeature([None], hr.int16), [b"ab", b"abc"], "length 3 that is not a multiple of 2, the size of int16"),
        (hr.RawFeature([None, 3], hr.int8), [b"abc", b"abcd"], "expected a multiple of 3 bytes"),
        (hr.RawFeature([2], hr.int8), [b"ab", b"abc"], "length 3, expected 2 bytes"),
    ],
    ids=lambda value: "",
)
def test_raw_of_a_wrong_length(spec, values, text):
    with pytest.raises(hr.SchemaError, match=text) as caught:
        parse(spec, values)
    assert caught.value.row == 1 and caught.value.key == "t"


def test_raw_of_a_fixed_length():
    values = [b"\1\2\3", b"\1\2\3\4\5", b""]
    for shape in ([2], [None], None):
        column = parse(hr.RawFeature(shape, hr.int16, fixed_length=4), values)
        assert column.numpy().tolist() == [[0x201, 3], [0x201, 0x403], [0, 0]]
    big = parse(hr.RawFeature([None, 1], hr.int16, little_endian=False, fixed_length=4), values)
    assert big.numpy().tolist() == [[[0x102], [0x300]], [[0x102], [0x304]], [[0], [0]]]
    true = parse(hr.RawFeature([4], hr.bool_, fixed_length=4), values)
    assert true.numpy().tolist() == [[True, True, True, False], [True] * 4, [False] * 4]


@pytest.mark.parametrize(
    "spec, text",
    [
        (hr.RawFeature([2], hr.int16, fixed_length=5), "must be a multiple of the size of out_type"),
        (hr.RawFeature([2], hr.int16, fixed_length=0), "must be greater than zero"),
        (hr.RawFeature([3], hr.int16, fixed_length=4), "not the size of shape"),
        (hr.RawFeature([2], hr.int16, fixed_length=4.5), "whole number"),
        (hr.RawFeature([None, None], hr.int16), "more than one unknown"),
        (hr.RawFeature([None], hr.string), "cannot be bytes"),
        (hr.TensorFeature([None], hr.int16, unknown_dims="dense"), "'ragged', 'padded' or 'equal'"),
        (hr.TensorFeature([None], hr.int16, padding_value=1), "unknown_dims='padded'"),
        (hr.TensorFeature([None], hr.int16, unknown_dims="padded", padding_value=70000), "does not fit int16"),
        (hr.TensorFeature(None, hr.int16, reshape=True), "unknown rank"),
        (hr.TensorFeature([-2], hr.int16), "must be known"),
    ],
    ids=repr,
)
def test_what_is_refused(spec, text):
    with pytest.raises(ValueError, match=text) as caught:
        hr.TFRecordDataset("nowhere").batch(1).parse({"feature_a": spec})
    assert "feature_a" in str(caught.value)


def test_claims_cost_no_memory():
    from tensor_proto_cases import head, packed

    spec = hr.TensorFeature([None, None], hr.int32, unknown_dims="padded")
    with pytest.raises(hr.SchemaError, match="claims 1099511627776 elements"):
        parse(spec, [head("int32", 2**40, 1) + packed(7, 5)])
    with pytest.raises(hr.SchemaError, match="at most 1048576 may be empty"):
        parse(spec, [head("int32", 2**40, 0)])
    with pytest.raises(hr.BudgetError, match="at most 4 GiB of padding"):
        parse(spec, [head("int32", 2**20, 1) + packed(7, 5), head("int32", 1, 2**20)])
