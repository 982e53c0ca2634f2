"""Structure: the nested tuple or dict that a training loop wants, made from the flat columns of a batch.

A structure is a tree of tuples, lists and dicts. Its leaves are names of features, `rest` (a dict of every feature that is
not named elsewhere in the tree) and `weight("label", {0: 1.0, 1: 3.0})` (a float32 weight per row, by its label). None
means the dict of all features. Keys of dicts rename:

    ("image", "label")                          -> (image, label), as Keras' fit takes it
    ({"x": "image", "y": "mask"}, "label")      -> ({"x": image, "y": mask}, label)
    (rest, "label", weight("label", {1: 3.0}))  -> ({...}, label, sample weights)
"""

from dataclasses import dataclass

import numpy as np

from .errors import ArgumentError


class _Rest:
    def __repr__(self):
        return "headrace.rest"


rest = _Rest()


@dataclass(frozen=True)
class Weight:
    """A leaf: the weight of each row. Labels that the table lacks weigh 1."""

    name: str
    table: tuple

    def of(self, labels):
        """float32 weights in the shape of `labels` (an array of whole numbers)."""
        labels = np.asarray(labels)
        weights = np.ones(labels.shape, dtype=np.float32)
        for label, value in self.table:
            weights[labels == label] = value
        return weights


def weight(name, table):
    """A leaf for a structure: float32 weights per row, looked up by the whole-number feature `name`."""
    if not isinstance(name, str):
        raise ArgumentError(f"weight: name {name!r} must be the name of a feature")
    try:
        pairs = tuple((int(label), float(value)) for label, value in dict(table).items())
    except (TypeError, ValueError):
        raise ArgumentError(f"weight({name!r}): {table!r} must map whole numbers to weights") from None
    return Weight(name, pairs)


def _weigh(leaf, labels):
    return leaf.of(labels)


def resolve(structure, names):
    """A function from a mapping of columns to nested values in the form of `structure`.

    The function takes the mapping and, as `weigh`, how to make the value of a weight leaf out of the leaf and the column
    of its labels; without it a numpy array.

    Args:
        structure: see above.
        names: the features there are, in order.

    Raises:
        ValueError: naming a leaf that is no feature, or a node that is no tree.
    """
    names = list(names)
    if structure is None:
        structure = rest
    named = set()
    _collect(structure, names, named)
    others = [name for name in names if name not in named]

    def build(columns, weigh=_weigh):
        return _build(structure, columns, others, weigh)

    return build


def _collect(node, names, named):
    """Adds the names in the tree to `named`; checks each."""
    if node is rest:
        return
    if isinstance(node, (str, Weight)):
        name = node if isinstance(node, str) else node.name
        if name not in names:
            raise ArgumentError(f"structure: {name!r} is no feature; there are {', '.join(map(repr, names))}")
        named.add(name)
    elif isinstance(node, dict):
        for child in node.values():
            _collect(child, names, named)
    elif isinstance(node, (tuple, list)):
        for child in node:
            _collect(child, names, named)
    else:
        raise ArgumentError(f"structure: {node!r} must be a name, rest, weight(…), a tuple, a list or a dict")


def _build(node, columns, others, weigh):
    if isinstance(node, str):
        return columns[node]
    if node is rest:
        return {name: columns[name] for name in others}
    if isinstance(node, Weight):
        return weigh(node, columns[node.name])
    if isinstance(node, dict):
        return {key: _build(child, columns, others, weigh) for key, child in node.items()}
    children = [_build(child, columns, others, weigh) for child in node]
    if isinstance(node, list):
        return children
    return type(node)(*children) if hasattr(node, "_fields") else tuple(children)
