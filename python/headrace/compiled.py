"""Compiled functions for Dataset.map: where their machine code is."""

import ctypes

from .errors import ArgumentError

# The engine calls them from its own threads as long as a pipeline runs: they stay for the life of the process.
_kept = []


def address_of(function):
    """The address of a numba cfunc or of a function of a ctypes library; None for anything else.

    Raises:
        ValueError: for a ctypes wrapper around a Python function, which would need the interpreter in the engine's threads.
    """
    address = getattr(function, "address", None)
    if not isinstance(address, int):
        if not isinstance(function, ctypes._CFuncPtr):
            return None
        if any(type(kept).__name__ == "CThunkObject" for kept in (function._objects or {}).values()):
            raise ArgumentError("function: a ctypes wrapper around a Python function; pass the function itself")
        address = ctypes.cast(function, ctypes.c_void_p).value
    _kept.append(function)
    return address
