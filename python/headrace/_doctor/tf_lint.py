"""What the source of a training script says: things outside the input that keep the accelerators from working well."""

import ast
import re

from .. import findings
from ..gpu_environment import unwanted_environment

_FRAMEWORKS = ("tensorflow", "keras", "jax", "torch")
_READ_AT_IMPORT = re.compile(r"(TF|CUDA|XLA|KERAS|NCCL|OMP|MKL)_")
_CREATES = re.compile(r"(^|\.)(Sequential|Model|compile|optimizers\.(?!schedules)\w+|applications\.\w+|Variable)$")
_STRATEGY = re.compile(r"(^|\.)(\w+Strategy)$")


def lint(source, path="<script>"):
    """The Findings of a script's source.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(source, path)
    return [*_late_environment(tree), *_unwanted_variables(tree), *_outside_scope(tree), *_run_missing(tree)]


def _late_environment(tree):
    """Variables that TensorFlow reads when it is imported, set behind the import."""
    imports = [node.lineno for node in ast.walk(tree) if _imports(node)]
    first = min(imports, default=None)
    late = [] if first is None else [(name, line) for name, _, line in _set_variables(tree) if line > first]
    if late:
        names = ", ".join(f"{name} in line {line}" for name, line in late)
        yield findings.Finding(
            "environment set late",
            "Variables are set behind the import of the framework, which has read them already.",
            f"{names}; the import is in line {first}",
            "import os\n\n" + "\n".join(f'os.environ["{name}"] = ...' for name, _ in late) + "\nimport tensorflow as tf",
        )


def _unwanted_variables(tree):
    """Variables that do nothing or harm."""
    given = list(_set_variables(tree))
    lines = {name: line for name, _, line in given}
    unwanted = unwanted_environment({name: value for name, value, _ in given})
    if unwanted:
        yield findings.Finding(
            "unwanted variables",
            "Variables are set that do nothing or harm.",
            "; ".join(f"{each.name} in line {lines[each.name]}: {each.reason}" for each in unwanted),
            "\n".join(f"# leave {each.name} alone" for each in unwanted),
        )


def _imports(node):
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in _FRAMEWORKS for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _FRAMEWORKS


def _set_variables(tree):
    """(name, value, line) of what is set in os.environ; a value that is no constant counts as "1"."""
    for node in ast.walk(tree):
        keys, value = [], None
        if isinstance(node, ast.Assign):
            value = node.value
            keys = [target.slice for target in node.targets if _is_environ(getattr(target, "value", None))]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("setdefault", "putenv") and (_is_environ(node.func.value) or node.func.attr == "putenv"):
                keys, value = [node.args[0]], node.args[-1]
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _READ_AT_IMPORT.match(key.value):
                yield key.value, str(value.value) if isinstance(value, ast.Constant) else "1", node.lineno


def _is_environ(node):
    return node is not None and _dotted(node) in ("os.environ", "environ")


def _outside_scope(tree):
    """Models, optimizers and variables made outside strategy.scope(), where there is a strategy of several replicas."""
    if not _strategies(tree):
        return
    makers = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _makes_unscoped(node)}
    found = list(_unscoped(tree, makers))
    if found:
        places = ", ".join(f"{name} in line {line}" for name, line in found)
        yield findings.Finding(
            "outside strategy.scope()",
            "What is made outside the scope has its variables on one device, and every replica goes there for them.",
            places,
            "with strategy.scope():\n    model = build_model()\n    model.compile(optimizer, loss)",
        )


def _strategies(tree):
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if _STRATEGY.search(_dotted(call.func)) and "OneDevice" not in _dotted(call.func)]


def _makes_unscoped(function):
    return any(True for statement in function.body for _ in _unscoped(statement, set()))


def _unscoped(node, makers):
    """(name, line) of the calls that make variables, outside every `with ….scope()`, function bodies left out."""
    if isinstance(node, ast.With) and any(
        _dotted(getattr(item.context_expr, "func", None)).endswith(".scope") for item in node.items
    ):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    if isinstance(node, ast.Call):
        name = _dotted(node.func)
        # compile() takes the scope of its model over.
        if (_CREATES.search(name) and not name.endswith(".compile")) or name in makers:
            yield name, node.lineno
            return
    for child in ast.iter_child_nodes(node):
        yield from _unscoped(child, makers)


def _run_missing(tree):
    """A loop over a distributed dataset that never calls strategy.run()."""
    names = [_dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    shared = any(name.endswith("distribute_dataset") or name.endswith("distribute_datasets_from_function") for name in names)
    if shared and not any(re.search(r"\.(run|fit|evaluate|predict)$", name) for name in names):
        yield findings.Finding(
            "strategy.run missing",
            "The dataset is distributed, but no step is run on the replicas: one device does the work of all.",
            "no call of strategy.run(), fit(), evaluate() or predict() in the script",
            "for batch in distributed:\n    loss = strategy.run(step, args=(batch,))",
        )


def _dotted(node):
    """a.b.c of such an expression, "" of others."""
    if isinstance(node, ast.Attribute):
        front = _dotted(node.value)
        return f"{front}.{node.attr}" if front else f".{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
