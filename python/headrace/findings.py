"""What the doctor says: findings, each with its cause, its evidence, the fix as code and the gain, and whether the input limits."""

import dataclasses
import textwrap

_WIDTH = 100


@dataclasses.dataclass(frozen=True)
class Gain:
    """How many times more batches a second: `ratio`, give or take `error` (both without a unit; 1.0 is no gain)."""

    ratio: float
    error: float

    def __str__(self):
        return f"{self.ratio:.2f}x ± {self.error:.2f}"

    @property
    def resolved(self):
        """Whether the gain is larger than what the measurement can tell."""
        return abs(self.ratio - 1.0) > self.error


@dataclasses.dataclass(frozen=True)
class Finding:
    """One diagnosis: `name` is its short fixed word, `cause` one sentence, `evidence` the numbers, `fix` code to paste.

    `predicted` is None where no number can be told. Where it comes from a short run with the fix, `modelled` is what the costs of the
    stages alone had foretold. `achieved` is None unless the fix was verified in a longer run.
    """

    name: str
    cause: str
    evidence: str
    fix: str
    predicted: Gain | None = None
    achieved: Gain | None = None
    modelled: Gain | None = None

    @property
    def gains(self):
        """{word: Gain} of those that are known."""
        known = {"predicted": self.predicted, "modelled": self.modelled, "achieved": self.achieved}
        return {word: gain for word, gain in known.items() if gain is not None}

    def __str__(self):
        gains = [f"{word} {gain}" for word, gain in self.gains.items()]
        head = f"{self.name}: {', '.join(gains)}" if gains else self.name
        lines = textwrap.wrap(self.cause, _WIDTH) + textwrap.wrap(self.evidence, _WIDTH)
        return "\n".join([head, *("  " + line for line in lines), *("    " + line for line in self.fix.splitlines())])


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What was found about one input: `findings`, the most gainful first; none where there is nothing to gain.

    `input_bound` says whether the accelerators wait for the input (None where their step time is not known), `limit` names the
    resource that limits, `facts` are the measured numbers by name, units in the names. `timeline` is how busy the accelerators are:
    shares, 0 to 1, of equal parts of the fact `timeline_seconds`; empty where nothing is known of their steps.
    """

    subject: str
    input_bound: bool | None
    limit: str
    findings: tuple[Finding, ...]
    facts: dict[str, float | int | str]
    timeline: tuple[float, ...] = ()

    def __str__(self):
        bound = {True: "input-bound", False: "not input-bound", None: "step time unknown"}[self.input_bound]
        head = f"{self.subject}: {bound}, limited by {self.limit}"
        facts = [f"  {name} {value:.4g}" if isinstance(value, float) else f"  {name} {value}" for name, value in self.facts.items()]
        found = [f"{number}. {finding}" for number, finding in enumerate(self.findings, 1)] or ["nothing to gain was found"]
        return "\n".join([head, *facts, *found])

    def as_dict(self):
        """Plain values for JSON."""
        return dataclasses.asdict(self)
