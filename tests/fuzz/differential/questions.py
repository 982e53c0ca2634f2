"""All questions: what is asked of both readers."""

from .examples import examples, seeded  # noqa: F401: seeded goes with the questions
from .sequences import sequences
from .tensors import tensors


def questions():
    return [*examples(), *sequences(), *tensors()]
