"""Contenders side by side: answers first, then interleaved repeats (A B A B ...), each in a fresh process.

Contenders of one group are settings of one thing (determinism on or off, ways of reading): after the first round those
that are clearly behind the best of their group are dropped, and at the end the best stands for the group.
"""

import dataclasses
import statistics

from benchmarks.harness import processes, tables

CLEARLY_BEHIND = 0.85
FOREIGN_LIMIT = 0.10
_EXTRA_TRIES = 2


@dataclasses.dataclass(frozen=True)
class Contender:
    """`module` is a file of the question's folder; `options` go to its open(). `python`: the interpreter that runs it, this
    one when empty."""

    group: str
    label: str
    module: str
    options: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    has_answers: bool = True
    python: str = ""


@dataclasses.dataclass
class Group:
    """The best setting of one contender on one workload; figures per repeat."""

    name: str
    label: str
    windows: list
    failure: str = ""

    def figures(self, which, key="records_per_cpu_s"):
        return [window[which][key] for window in self.windows]

    def median(self, which, key="records_per_cpu_s"):
        return statistics.median(self.figures(which, key))

    def noisy(self):
        """Windows in which other programs used more than a tenth of the machine."""
        return sum(window["touched"]["foreign_share"] > FOREIGN_LIMIT for window in self.windows)


class AnswersDiffer(RuntimeError):
    """Two contenders deliver different records: there is nothing to time."""


class Comparison:
    """All contenders of one question on one workload."""

    def __init__(self, question, workload, shards, contenders, seconds, repeats, say):
        self._question = question
        self._workload = workload
        self._shards = shards
        self._contenders = contenders
        self._seconds = seconds
        self._repeats = repeats
        self._say = say
        self._windows = {}
        self._failures = {}

    def _child(self, contender, task):
        request = {
            "question": self._question,
            "contender": contender.module,
            "workload": self._workload,
            "shards": self._shards,
            "options": contender.options,
            "task": task,
            "seconds": self._seconds,
        }
        return processes.run("benchmarks.harness.child", request, contender.environment, python=contender.python)

    def _compare_answers(self):
        digests = {}
        for contender in self._contenders:
            key = (contender.module, str(contender.options.get("way")))
            if not contender.has_answers or key in digests:
                continue
            self._say(f"{self._workload}: answers of {contender.label}")
            digests[key] = self._child(contender, "answers")
        if len(set(digests.values())) > 1:
            listing = "\n".join(f"  {module} {way}: {digest}" for (module, way), digest in digests.items())
            raise AnswersDiffer(f"{self._question}, {self._workload}: the answers differ\n{listing}")

    def _window(self, contender):
        best = None
        for _ in range(1 + _EXTRA_TRIES):
            window = self._child(contender, "measure")
            if best is None or window["touched"]["foreign_share"] < best["touched"]["foreign_share"]:
                best = window
            if best["touched"]["foreign_share"] <= FOREIGN_LIMIT or self._repeats < 5:
                break
        return best

    def _drop_slow(self, running):
        def figure(contender):
            return self._windows[contender.label][0]["touched"]["records_per_cpu_s"]

        kept = []
        for contender in running:
            best = max(figure(other) for other in running if other.group == contender.group)
            if figure(contender) >= CLEARLY_BEHIND * best:
                kept.append(contender)
        return kept

    def run(self):
        """{group name: Group}, in the order of the contenders."""
        self._compare_answers()
        running = list(self._contenders)
        for repeat in range(self._repeats):
            for contender in list(running):
                self._say(f"{self._workload}: {contender.label}, repeat {repeat + 1} of {self._repeats}")
                self._windows.setdefault(contender.label, []).append(self._window(contender))
            if repeat == 0:
                running = self._drop_slow(running)
        groups = {}
        for contender in running:
            group = Group(contender.group, contender.label, self._windows[contender.label])
            known = groups.get(contender.group)
            if known is None or group.median("touched") > known.median("touched"):
                groups[contender.group] = group
        return groups


def ratio(ours, theirs, which):
    return tables.ratio(ours.figures(which), theirs.figures(which))


def as_json(groups):
    return {
        name: {"setting": group.label, "windows": group.windows, "noisy_windows": group.noisy()}
        for name, group in groups.items()
    }
