"""What is asked of parsing alone, each goal with its figure and whether it is met.

Rates are those of the table above, every byte read. Beside a memcpy of the same bytes the figures are as delivered, since the
loop reads nothing back. Two settings of headrace on one workload are compared in interleaved pairs.
"""

import numpy as np

from benchmarks.harness import tables
from benchmarks.harness.comparison import Contender
from benchmarks.workloads import example_bytes
from benchmarks.workloads.catalog import SIZES, WORKLOADS

HEADER = ("goal", "figure", "wanted", "")
_RATES = {"ctr": 2.4, "ctr_rand": 1.3}  # million records per CPU-second
_COPIES = ("size_4KB", "size_16KB", "size_64KB", "floats11k")
_COPY_SHARE = 0.85
# (workload, the same records with the features of that one, what is compared, is the cost of the first over that of the
# second, or of the second over the first; the most it may be)
_PAIRS = (
    ("tensorproto", "tensor_bytes", "nested TensorProto beside plain bytes of the same size", "first", 1.05),
    ("ctr", "ctr_one", "1 of 40 features beside all 40", "second", 0.45),
    ("floats11k", "floats11k_bf16", "scale and cast to bfloat16 beside the plain copy", "second", 1.05),
)
_VARINT_GB = 1.8
_WIDE_US = 60


def headrace(label, batches, **options):
    return Contender(label, label, "headrace_parser", {"batches": batches, **options}, has_answers=False)


def run(plan, batches_of, groups_of_table):
    """(rows, json). `groups_of_table`: {workload: groups} of what has been measured already."""
    rows, numbers = [], {}
    for name, wanted in _RATES.items():
        if name in groups_of_table:
            rate = groups_of_table[name]["headrace"].median("touched") / 1e6
            rows.append(_at_least(f"{name}, million records per CPU-second", rate, wanted, "{:.2f}"))
    for name in plan.pick(["varints"]):
        shards = plan.prepare(name)
        groups = plan.compare("parse_examples", name, shards, [headrace("headrace", batches_of(WORKLOADS[name]))])
        rate = groups["headrace"].median("touched") * varint_bytes(WORKLOADS[name]) / 1e9
        rows.append(_at_least("int64 lists, GB of wire varints per CPU-second", rate, _VARINT_GB, "{:.2f}"))
        numbers[name] = groups["headrace"].windows
    for name in plan.pick(_COPIES):
        share, numbers[f"{name} beside memcpy"] = _beside_memcpy(plan, name, batches_of(WORKLOADS[name]))
        rows.append(_at_least(f"{name}: share of a memcpy of the same bytes", share, _COPY_SHARE, "{:.0%}"))
    for name, other, what, numerator, most in _PAIRS:
        if plan.pick([name, other]) == [name, other]:
            pair = [headrace(name, batches_of(WORKLOADS[name])), headrace(other, batches_of(WORKLOADS[name]), **{"as": other})]
            groups = plan.compare("parse_examples", name, plan.prepare(name), pair)
            rates = [groups[each].figures("touched") for each in (name, other)]
            # The cost of the first over that of the second is the rate of the second over that of the first.
            cost = tables.ratio(*(reversed(rates) if numerator == "first" else rates))
            rows.append(_at_most(f"{what}: cost", cost["median"], most, "{:.2f}"))
            numbers[what] = {each: groups[each].windows for each in (name, other)}
    for name in plan.pick(["wide"]):
        window = plan.measure("parse_examples", "wide_delivery", name, plan.prepare(name), {})
        rows.append(_at_most("wide, batch 1024: delivery, microseconds (p50)", window["p50_us"], _WIDE_US, "{:.0f}"))
        numbers[name] = window
    return rows, numbers


def varint_bytes(workload, records=64):
    """Mean bytes of the packed lists of int64 of a record."""
    total = 0
    for record in workload.values(0, records):
        total += sum(len(example_bytes.packed(value)) for value in record.values() if isinstance(value, np.ndarray))
    return total / records


def _beside_memcpy(plan, name, batches):
    shards = plan.prepare(name)
    options = {"batches": batches, "value_bytes": SIZES.get(name.removeprefix("size_"))}
    loop = Contender("memcpy", "memcpy", "memcpy_loop", options, has_answers=False)
    groups = plan.compare("parse_examples", name, shards, [headrace("headrace", batches), loop])
    share = tables.ratio(groups["headrace"].figures("delivered"), groups["memcpy"].figures("delivered"))
    return share["median"], {each: group.windows for each, group in groups.items()}


def _at_least(what, figure, wanted, form):
    return what, form.format(figure), f"at least {form.format(wanted)}", "met" if figure >= wanted else "MISSED"


def _at_most(what, figure, wanted, form):
    return what, form.format(figure), f"at most {form.format(wanted)}", "met" if figure <= wanted else "MISSED"
