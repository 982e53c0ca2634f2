"""Ways of decoding a batch of serialized TensorProtos in TensorFlow (see in_tensorflow.py), named without importing
it."""

WAYS = ("map_fn", "decode_proto", "substr")
