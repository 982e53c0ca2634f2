"""What does reading behind a URL cost, and does it fill the link?

The same shards as local files, from an nginx on loopback, and over a link of 30 ms and 100 MB/s a connection that carries 400
MB/s in all; some shards in turn, and one shard after another. Then the time to list 100,000 keys of a bucket.
"""

import os
import time
from pathlib import Path

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.read_remote import servers
from benchmarks.workloads.catalog import WORKLOADS

LATENCY_MS, CONNECTION_MB, TOTAL_MB = 30, 100, 400
KEYS = 100_000
IN_TURN = {"size_4KB": 16, "size_1MB": 4}  # 16 records of each
HEADER = ("records", "order", "from", "MB/s", "of the link", "MB/CPU-s", "of local", "peak MB", "goal", "")


def _rows(name, order, groups, record_bytes):
    local = groups["local"]
    for group in groups.values():
        speed = group.median("delivered", "records_per_s") * record_bytes / 1e6
        per_cpu = group.median("delivered") * record_bytes / 1e6
        of_link = speed / TOTAL_MB if group.name == "link" else None
        yield (
            name.removeprefix("size_"),
            order,
            group.label,
            f"{speed:,.0f}",
            f"{of_link * 100:.0f} %" if of_link else "",
            f"{per_cpu:,.0f}",
            f"{per_cpu / (local.median('delivered') * record_bytes / 1e6) * 100:.0f} %",
            f"{max(window['peak_rss_mb'] for window in group.windows):,.0f}",
            "90 %" if of_link else "",
            "" if not of_link else "met" if of_link >= 0.9 else "MISSED",
        )


def _listing():
    from headrace.verify import find_files

    with servers.running("bucket", KEYS) as url:
        os.environ.update(AWS_ENDPOINT_URL_S3=url, AWS_NO_SIGN_REQUEST="1")
        start = time.perf_counter()
        found = find_files("s3://bucket/train/shard-*.tfrecord")
        seconds = time.perf_counter() - start
    assert len(found) == KEYS
    return seconds


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers = [], {}
    for name in plan.pick(list(IN_TURN)):
        shards = plan.prepare(name)
        folder = Path(shards[0]).resolve().parent
        link = servers.running("link", folder, LATENCY_MS, CONNECTION_MB, TOTAL_MB)
        with servers.nginx(folder) as web_url, link as link_url:
            for cycle, order in ((IN_TURN[name], f"{IN_TURN[name]} in turn"), (1, "one by one")):
                contenders = [
                    Contender("local", "local files", "headrace_urls", {"url": "", "cycle": cycle}),
                    Contender("web", "nginx on loopback", "headrace_urls", {"url": web_url, "cycle": cycle, "way": "web"}),
                    Contender("link", "the link", "headrace_urls", {"url": link_url, "cycle": cycle, "way": "link"}),
                ]
                groups = plan.compare("read_remote", name, shards, contenders)
                rows += _rows(name, order, groups, WORKLOADS[name].record_bytes)
                numbers[f"{name}, {order}"] = comparison.as_json(groups)
    seconds = _listing()
    numbers["listing_seconds"] = seconds
    listing = f"{KEYS:,} keys in {seconds:.1f} s (goal: at most 20)"
    return {"tables": [("Behind a URL", tables.markdown(HEADER, rows)), ("Listing", listing)], "json": numbers}
