"""accelerate(): from a user's dataset to one that headrace feeds."""

import logging
import secrets

import tensorflow as tf

from .. import tensorflow as adapter
from .._tf_elements import Elements
from .._tf_recipe import batch_size
from ..errors import ArgumentError, Error
from . import check, draws, lift, objects, takeover, witness
from .engine import Engine
from .on_top import put_on_top
from .plan import plan
from .refusal import Refused, brief
from .rest import Rest

_logger = logging.getLogger("headrace.tensorflow")
# What a program can raise here that nobody has thought of: private names of another TensorFlow, data that is damaged from the
# first record on. Its own dataset goes on as it would have.
_UNREADABLE = (Error, OSError, tf.errors.OpError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


def accelerate(dataset, strategy, verify, seed, random, strict, explain):
    """See headrace.tensorflow.accelerate."""
    if not isinstance(dataset, tf.data.Dataset):
        raise ArgumentError(f"dataset={dataset!r}: must be a tf.data.Dataset")
    if random not in ("seeded", "tensorflow"):
        raise ArgumentError(f"random={random!r}: must be 'seeded' or 'tensorflow'")
    if isinstance(verify, bool) or not hasattr(verify, "__index__") or verify < 1:
        raise ArgumentError(f"verify={verify!r}: must be an int >= 1")
    seed = secrets.randbits(31) if seed is None else int(seed)
    try:
        result = _Taking(dataset, verify, seed, random == "seeded").result(strategy)
    except (Refused, *_UNREADABLE) as error:
        reason = str(error) if isinstance(error, Refused) else f"it cannot be read: {brief(error)}"
        if strict:
            raise ArgumentError(f"dataset: not taken over: {reason}") from error
        _logger.warning("the dataset is left as it is: %s", reason)
        result = dataset if strategy is None else strategy.experimental_distribute_dataset(dataset)
        result.takeover = takeover.Takeover(False, dataset, reason=reason)
    if explain:
        print(result.takeover)
    return result


class _Taking:
    """One takeover, step by step."""

    def __init__(self, dataset, verify, seed, seeded):
        self._dataset = dataset
        self._options = dataset.options()
        chain = objects.read(dataset)
        unwitnessed = witness.confirm(dataset, chain)
        self._plan = plan(chain)
        threads = self._options.threading.private_threadpool_size
        self._engine = Engine(self._plan, seed, threads if threads and threads > 0 else None)
        self._differences = list(self._plan.differences) + ([unwitnessed] if unwitnessed else [])
        salt = seed if seeded and self._draws() else None
        self._seeded = salt is not None
        self._probe, rows = self._first_records(verify)
        self._rest, self._check = self._lifted(salt)
        self._rows = rows

    def _draws(self):
        plan = self._plan
        return bool(plan.split.random or plan.split.hidden_random) or any(not draws.draws_nothing(flat) for flat in plan.after)

    def _first_records(self, verify):
        plan = self._plan
        whole = plan.split.batched or plan.after
        parsed, records = self._engine.first_records(plan.batch.arguments["batch_size"] if whole else verify)
        with iter(records) as batches:
            first = next(batches, None)
        if first is None:
            raise Refused("there is no record to compare with")
        serialized = tf.constant(first.numpy())
        columns = next(iter(adapter.dataset(parsed)))
        return check.Probe(plan, serialized, columns), int(serialized.shape[0])

    def _lifted(self, salt):
        """The first way that builds and gives the user's values."""
        failures = []
        for way in lift.ways(self._plan):
            rest = Rest(self._plan, way, salt)
            try:
                found = self._probe.compare(way)
                if self._plan.after:
                    tf.function(rest, autograph=False)(self._probe.columns, tf.constant([0, 0]))
                return rest, found
            except check.Differs as error:
                failures.append(f"{way}: {error}")
            except (tf.errors.OpError, ValueError, TypeError, NotImplementedError, LookupError) as error:
                failures.append(f"{way}: {brief(error)}")
        raise Refused("what is left does not run on batches: " + "; ".join(failures))

    def result(self, strategy):
        pipeline = self._engine.dataset()
        structure = self._structure(pipeline)
        function = self._rest if structure is None else None
        if strategy is None or self._plan.on_top:
            made = adapter.dataset(pipeline, structure=structure, map=function)
            made = put_on_top(made, self._plan.on_top)
            made = self._with_options(made)
            self._check_spec(made)
            if strategy is not None:
                made = strategy.experimental_distribute_dataset(made)
        else:
            rows = "independent" if function is None or self._rows_are_independent() else "dependent"
            made = adapter.distribute(pipeline, strategy, structure=structure, map=function, map_rows=rows)
            if rows == "dependent":
                self._differences.append("a function of batches sees the global batch, not one replica's share")
        made.takeover = self._account(pipeline, structure, function)
        return made

    def _structure(self, pipeline):
        """The structure that makes the element out of the columns alone, or None when a function is needed."""
        plan = self._plan
        if plan.after or not lift.is_plain(plan):
            return None
        names = {column.row_ref: column.name for column in plan.split.columns}
        tree = tf.nest.pack_sequence_as(plan.spec, [names[ref] for ref in plan.split.flat.outputs])
        leaves = tf.nest.flatten(tree)
        if len(set(leaves)) != len(leaves):
            return None
        rows, whole = batch_size(pipeline)
        return tree if Elements(pipeline, tree, rows if whole else None).spec() == plan.spec else None

    def _rows_are_independent(self):
        plan = self._plan
        if not plan.split.batched and not plan.after:
            return True
        if plan.split.random or plan.split.hidden_random or any(not draws.draws_nothing(flat) for flat in plan.after):
            return False
        return check.rows_are_independent(self._rest, self._probe.columns, self._rows)

    def _with_options(self, made):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
        return made.with_options(self._options.merge(options))

    def _check_spec(self, made):
        if made.element_spec != self._dataset.element_spec:
            raise Refused(f"the element_spec would be {made.element_spec}")

    def _account(self, pipeline, structure, function):
        plan = self._plan
        differences = list(self._differences)
        if any(stage.op == "Shuffle" for stage in plan.chain.stages):
            differences.append("the order is the engine's, not tf.data's, for the same seed")
        differences += self._about_draws()
        source = self._engine.source(f"structure={structure!r}" if function is None else "map=takeover.rest")
        return takeover.Takeover(
            True,
            self._dataset,
            moved=takeover.moved(plan, self._engine),
            stayed=takeover.stayed(plan, function),
            differences=differences,
            check=self._check,
            source=source,
            pipeline=pipeline,
            rest=function,
        )

    def _about_draws(self):
        if not self._draws():
            return []
        if not self._seeded:
            return ["random numbers are drawn by TensorFlow, other ones in a repeated or resumed run"]
        others = draws.unseeded(self._plan.split, self._plan.after)
        seeded = "random numbers are drawn from the pipeline's seed: a run with the same seed=, or a resumed one, repeats them"
        return [seeded] + ([f"but for {', '.join(others)}, which TensorFlow draws"] if others else [])
