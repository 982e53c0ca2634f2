"""Two readers and many damaged records: do they accept the same ones, and read the same values?

Where they do not, the record's Reading decides: a name of rules.py must have been met in it, and headrace must give what
protobuf's rules make of the record, which TensorFlow is asked about in the plainest form. Anything else is a Finding.
"""

import collections
from dataclasses import dataclass

from . import rules
from .mutations import mutate

_BATCH = 256


@dataclass(frozen=True)
class Finding:
    """`what` tells findings of different kinds apart."""

    question: str
    what: str
    record: bytes

    def __str__(self):
        return f"{self.question}: {self.what}\n  {self.record.hex()}"


def by_kind(findings):
    """{(question, what): its findings, the shortest record first}."""
    kinds = {}
    for finding in sorted(findings, key=lambda finding: len(finding.record)):
        kinds.setdefault((finding.question, finding.what), []).append(finding)
    return kinds


class Judge:
    """Counts over all records of one question. `alone`: only headrace reads them, and nothing is judged."""

    def __init__(self, question, random, alone=False):
        self.question = question
        self._alone = alone
        self.records = self.accepted = 0
        self.met = collections.Counter()
        self.findings = []
        self._random = random
        self._seeds = list(question.seeds(random))

    def run(self, records):
        """Judges about that many more mutated records."""
        for _ in range(-(-records // _BATCH)):
            batch = [mutate(self._random.choice(self._seeds), self._seeds, self._random) for _ in range(_BATCH)]
            self.judge(batch)

    def judge(self, records):
        self.records += len(records)
        if self._alone:
            self.question.ours_accepts([record for record in records if self.question.not_asked(record) is None])
            return
        asked, differ = [], []
        for record in records:
            reason = self.question.not_asked(record)
            if reason is None:
                asked.append(record)
                continue
            self.met[reason] += 1
            if reason != rules.TOO_LARGE:
                differ.append(record)
            elif self.question.claims_too_much(record) and self.question.ours_accepts([record])[0]:
                self._find(record, "ours accepts a claim of more than it may fill")
        theirs = self.question.theirs.accepts(asked)
        ours = self.question.ours_accepts(asked)
        differ += [record for record, a, b in zip(asked, ours, theirs) if a != b]
        both = [record for record, a, b in zip(asked, ours, theirs) if a and b]
        self.accepted += len(both)
        differ += self._different(both)
        for record in differ:
            self._explain(record)

    def _different(self, records):
        """Those of the records that both accept but read differently."""
        if not records or self.question.same(records, records):
            return []
        if len(records) == 1:
            return records
        half = len(records) // 2
        return self._different(records[:half]) + self._different(records[half:])

    def _explain(self, record):
        question = self.question
        reading = question.read(record)
        value_rule = question.value_rule(reading)
        named = (reading.names & question.forms) | ({reading.fault} & question.faults) | ({value_rule} - {None})
        unsafe = question.not_asked(record)
        accepted = bool(question.ours_accepts([record])[0])
        must_fail = bool(reading.fault or value_rule)
        ours = "ours accepts" if accepted else "ours refuses"
        met = ", ".join(sorted(named | ({reading.fault} - {""}))) or "nothing unusual"
        if not named and unsafe is None:
            self._find(record, f"{ours}, TensorFlow differs without a reason; {met}")
            return
        self.met.update(named)
        if must_fail:
            if accepted:
                self._find(record, f"ours accepts what must be refused; {met}")
            return
        plain = question.written(reading)
        if bool(question.theirs.accepts([plain])[0]) != accepted:
            self._find(record, f"{ours}, other than its plain form; {met}")
        elif accepted and not question.same([record], [plain]):
            self._find(record, f"other values than its plain form; {met}")

    def _find(self, record, what):
        self.findings.append(Finding(self.question.name, what, record))
