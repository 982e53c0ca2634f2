"""accelerate(): a tf.data program whose part from shards to parsed batches runs in headrace.

The way of a program: `objects` reads the dataset into a Chain and `witness` confirms it; `plan` sorts the stages; `flatten`
makes one graph of the functions and `split` cuts it at the tensors that the parser can deliver (`parse_ops`, `decode`,
`fold`, `columns`); `lift` runs what is left on batches, with the random numbers of `draws`; `engine` makes the headrace
pipeline; `check` compares; `deliver` puts the parts together; `takeover` tells about it. What is not known for sure raises
`Refused` on the way.
"""

from .deliver import accelerate

__all__ = ["accelerate"]
