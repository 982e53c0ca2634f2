"""Damaged records, read by headrace and by TensorFlow: do they accept the same ones, with the same values?

Usage: against_tensorflow.py [SECONDS] [--records N] [--seed N] [--question NAME]. Prints a line per question, the deliberate
differences that were met, and of each kind of finding the shortest record in hexadecimal; exits 1 when there is one.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "python"), str(_HERE.parent / "python" / "tensorflow_cases")]

from differential.judge import Judge, by_kind  # noqa: E402
from differential.questions import questions  # noqa: E402

_ROUND = 2560


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", nargs="?", type=float, default=300.0)
    parser.add_argument("--records", type=int, help="stop after that many records instead")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--question", help="only this one")
    options = parser.parse_args(arguments)
    asked = [question for question in questions() if options.question in (None, question.name)]
    if options.question and not asked:
        parser.error(f"no question {options.question}; there are: {', '.join(question.name for question in questions())}")
    judges = [Judge(question, random.Random(f"{options.seed} {question.name}")) for question in asked]
    print(f"seed {options.seed}", flush=True)
    end = time.monotonic() + options.seconds
    while (sum(each.records for each in judges) < options.records) if options.records else (time.monotonic() < end):
        for judge in judges:
            judge.run(_ROUND)
    return tell(judges)


def tell(judges):
    for judge in judges:
        share = judge.accepted / max(judge.records, 1)
        print(f"{judge.question.name}: {judge.records} records, {share:.0%} accepted by both and equal, {len(judge.findings)} findings")
        for name, count in judge.met.most_common():
            if count:
                print(f"    {count:7} {name}")
    findings = [finding for judge in judges for finding in judge.findings]
    for alike in by_kind(findings).values():
        print(f"{alike[0]}  ({len(alike)} like this)")
    print(f"{sum(judge.records for judge in judges)} records, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
