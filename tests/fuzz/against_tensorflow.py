"""Damaged records, read by headrace and by TensorFlow: do they accept the same ones, with the same values?

Usage: against_tensorflow.py [SECONDS] [--records N] [--seed N] [--question NAME] [--alone]. Prints a line per question, the
deliberate differences that were met, and of each kind of finding the shortest record in hexadecimal; exits 1 when there is one.

Without --question, each question is asked in a process of its own, again and again: a record can end TensorFlow's. Whose fault
that was, the same records tell when headrace reads them --alone.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "python"), str(_HERE.parent / "python" / "tensorflow_cases")]

from differential.judge import Judge, by_kind  # noqa: E402
from differential.questions import questions  # noqa: E402

_ROUND = 2560
_CHILD_RECORDS = 8 * _ROUND


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", nargs="?", type=float, default=300.0)
    parser.add_argument("--records", type=int, help="stop after that many records instead")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--question", help="only this one, in this process")
    parser.add_argument("--alone", action="store_true", help="without TensorFlow: only whether headrace survives")
    options = parser.parse_args(arguments)
    names = [question.name for question in questions()]
    if options.question is None:
        return ask_all(names, options)
    if options.question not in names:
        parser.error(f"no question {options.question}; there are: {', '.join(names)}")
    print(f"seed {options.seed}", flush=True)
    return ask_one(options)


def goes_on(records, options, end):
    return records < options.records if options.records else time.monotonic() < end


def ask_one(options):
    question = next(question for question in questions() if question.name == options.question)
    judge = Judge(question, random.Random(f"{options.seed} {question.name}"), alone=options.alone)
    end = time.monotonic() + options.seconds
    while goes_on(judge.records, options, end):
        judge.run(_ROUND)
    return tell(judge)


def ask_all(names, options):
    """Child by child; 1 when one had findings, or headrace did not survive."""
    status = records = deaths = 0
    seed, end = options.seed, time.monotonic() + options.seconds
    while goes_on(records, options, end):
        for name in names:
            command = [sys.executable, __file__, "--question", name, "--seed", str(seed), "--records", str(_CHILD_RECORDS)]
            done = subprocess.run(command).returncode
            if done < 0:
                deaths += 1
                alone = subprocess.run([*command, "--alone"]).returncode
                whose = "TensorFlow's: headrace reads the same records" if alone == 0 else "HEADRACE'S"
                print(f"{name}: seed {seed} ended by signal {-done}, {whose}", flush=True)
                done = alone
            status |= done != 0
            records += _CHILD_RECORDS
        seed += 1
    print(f"{records} records in all, {deaths} processes ended by a signal", flush=True)
    return status


def tell(judge):
    share = judge.accepted / max(judge.records, 1)
    print(f"{judge.question.name}: {judge.records} records, {share:.0%} accepted by both and equal, {len(judge.findings)} findings")
    for name, count in judge.met.most_common():
        if count:
            print(f"    {count:7} {name}")
    for alike in by_kind(judge.findings).values():
        print(f"{alike[0]}  ({len(alike)} like this)")
    return 1 if judge.findings else 0


if __name__ == "__main__":
    sys.exit(main())
