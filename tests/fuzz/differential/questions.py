"""All questions: what is asked of both readers."""

from .examples import examples
from .sequences import sequences
from .tensors import tensors


def questions():
    return [*examples(), *sequences(), *tensors()]
