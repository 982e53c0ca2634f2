"""What is asked of reading alone, each goal with its figure and whether it is met.

Framing and checking is `verify_files`; the rest is reading in batches of 256 as they are delivered, two settings of headrace in
interleaved pairs. tf.data stands beside the interleave and the compressed shard, with the same records.
"""

from benchmarks.harness import tables
from benchmarks.harness.comparison import Contender
from benchmarks.workloads.catalog import WORKLOADS

HEADER = ("goal", "figure", "wanted", "tf.data")
_FRAMED = ("size_4KB", "size_16KB", "size_64KB", "size_256KB", "size_1MB")
_SMALL = "size_100B"
_SMALL_RATE = 15.0  # million records per CPU-second
_FRAMING_SHARE = 0.90
_CHECKED = ("size_100B", "size_1KB", "size_4KB", "size_64KB")
_CHECK_COST = 1.1
_INTERLEAVED = ("size_100B", "size_1KB", "size_4KB", "size_64KB")
_INTERLEAVE_COST = 1.05
_TWO_CORES = 1.5


def _headrace(label, **options):
    return Contender(label, label, "headrace_reader", {"parse": False, **options}, has_answers=False)


def _tfdata(label, **options):
    return Contender(label, label, "tfdata_reader", {"parse": False, "batch": 256, **options}, has_answers=False)


def run(plan):
    """(rows, json)."""
    rows, numbers = [], {}
    for name in plan.pick([_SMALL, *_FRAMED]):
        groups = _compare(plan, name, [_loop(), Contender("framing", "framing", "headrace_framing", has_answers=False)])
        numbers[f"{name} framed"] = _windows(groups)
        if name == _SMALL:
            what = f"records of {WORKLOADS[name].record_bytes} bytes framed and checked, million per CPU-second"
            rows.append(_at_least(what, groups["framing"].median("delivered") / 1e6, _SMALL_RATE, "{:.1f}"))
        else:
            share = tables.ratio(groups["framing"].figures("delivered"), groups["checksum"].figures("delivered"))
            what = f"{name}: framing and checking, share of pread and checksum"
            rows.append(_at_least(what, share["median"], _FRAMING_SHARE, "{:.0%}"))
    for name in plan.pick(_CHECKED):
        groups = _compare(plan, name, [_loop(), _headrace("full"), _headrace("off", verify="off")])
        numbers[f"{name} verified"] = _windows(groups)
        costs = {each: 1 / groups[each].median("delivered") for each in ("full", "off")}
        figure = (costs["full"] - costs["off"]) * groups["checksum"].median("touched")
        rows.append(_at_most(f"{name}: cost of verification, in checksums in the cache", figure, _CHECK_COST, "{:.2f}"))
    for name in plan.pick(_INTERLEAVED):
        pair = [_headrace("one"), _headrace("sixteen", cycle=16), _tfdata("tf one"), _tfdata("tf sixteen", cycle=16)]
        groups = _compare(plan, name, pair)
        numbers[f"{name} interleaved"] = _windows(groups)
        cost = tables.ratio(groups["one"].figures("delivered"), groups["sixteen"].figures("delivered"))
        theirs = tables.ratio(groups["tf one"].figures("delivered"), groups["tf sixteen"].figures("delivered"))
        what = f"{name}: cost of a 16-way interleave beside one shard after another"
        rows.append(_at_most(what, cost["median"], _INTERLEAVE_COST, "{:.2f}", f"{theirs['median']:.2f}"))
    for name in plan.pick(["ctr_gz"]):
        pair = [_headrace(f"{threads} threads", num_threads=threads, shards=1) for threads in (1, 2)]
        groups = _compare(plan, name, [*pair, _tfdata("tf", shards=1)])
        numbers["one compressed shard"] = _windows(groups)
        rates = {each: groups[each].median("delivered", "records_per_s") for each in groups}
        what = f"{name}, one shard: two threads beside one, records per second"
        theirs = f"{rates['tf'] / rates['1 threads']:.2f} of headrace on one"
        rows.append(_at_least(what, rates["2 threads"] / rates["1 threads"], _TWO_CORES, "{:.2f}", theirs))
    return rows, numbers


def _loop():
    return Contender("checksum", "checksum", "checksum_loop", has_answers=False)


def _compare(plan, name, contenders):
    return plan.compare("read_records", name, plan.prepare(name), contenders)


def _windows(groups):
    return {name: group.windows for name, group in groups.items()}


def _at_least(what, figure, wanted, form, beside=""):
    verdict = "met" if figure >= wanted else "MISSED"
    return what, form.format(figure), f"at least {form.format(wanted)}: {verdict}", beside


def _at_most(what, figure, wanted, form, beside=""):
    verdict = "met" if figure <= wanted else "MISSED"
    return what, form.format(figure), f"at most {form.format(wanted)}: {verdict}", beside
