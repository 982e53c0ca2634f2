"""Where headrace differs from TensorFlow on purpose: each rule by name, with its row in the reference of TensorFlow's behaviour.

A record may be read differently only when one of these names was met in it, and then headrace must do what the name says:
read what protobuf's rules make of it (FORMS), or refuse it (FAULTS, and the checks of values in questions.py).
"""

TOO_LARGE = "tensor of a million elements"

# Forms that protobuf's rules read, each with what TensorFlow does with it. Section 3 of the reference.
FORMS = {
    "group at the top": "the record fails",
    "tag longer than it needs": "taken for an unknown field: what is in it is absent, in silence",
    "unknown field between map entries": "the record fails",
    "map entry of another form than key and value": "the record fails",
    "unknown field before the list of a Feature": "Unsupported datatype",
    "several lists in a Feature": "the first counts, the rest is dropped in silence",
    "unknown field in a list": "Can't parse serialized Example",
    "more behind the first chunk": "dropped in silence",
    "damage behind the list of a Feature": "not looked at",
    "chunk behind single values": "Can't parse serialized Example",
    "key twice, the last without a kind": "dense features take the earlier value",
    "earlier value of a key in an unusual form": "read as if it counted: the record fails",
}
# The other parser, of SequenceExamples: section 7.
SEQUENCE_FORMS = {
    **FORMS,
    "value before key": "Invalid protocol message input",
    "context feature without a kind": "Unexpected number of elements, also with a default",
    "unknown field between steps": "Invalid protocol message input",
    "unknown field behind the list of a Feature": "Error in sequence feature",
}
# TensorProtos, which TensorFlow reads by protobuf's own parser.
TENSOR_FORMS = {
    "tag or length of more than 5 bytes": "no TensorProto",
    "name of a dimension that is no UTF-8": "no TensorProto",
    "values beside tensor_content": "parsed although they do not count",
    "resource or variant": "parsed although it does not count",
}
# Faults that TensorFlow does not see.
FAULTS = {
    "packed floats of a length that is no multiple of 4": "the rest bytes are dropped in silence (section 3)",
    "list longer than its Feature": "clipped to the Feature (section 3)",
    "length beyond its message": "accepted where what is there ends between two fields: the rest is lost in silence",
    "ends inside a varint": "the same, behind a tag without a value",
    "field number 0": "skipped with its value, other than a 00 byte at the end",
}
SEQUENCE_FAULTS = {**FAULTS}
# What is met in the values, not in the form; headrace refuses it.
VALUES = {
    "partition that does not fit its values": "values vanish, or the next record gets them (section 4)",
    "sparse index out of range": "an invalid SparseTensor (section 4)",
    "more values than elements": "the rest is dropped in silence (section 8)",
    "values in the field of another type": "zeros (section 8)",
    "value of a wrong wire type": "skipped like an unknown field: zeros",
    "int_val out of range": "wraps to the low bits (section 8); of uint32_val too",
    "complex number without its second half": "the odd part is dropped (section 8)",
    "unknown rank": "ignored (section 8)",
}
# What TensorFlow is not asked: it would damage its own memory, or take all there is.
NOT_ASKED = {
    "single floats beyond the shape": "writes past the buffer (section 4)",
    "byte string of 2 GiB": "reads through a negative length: the process dies",
    "byte string longer than its list": "in the context of a SequenceExample: the process dies",
    "row ids beyond a million": "makes as many rows",
    "tensor of a million elements": "makes them",
}
