"""What the pipelines of this process did, as text for Prometheus; served on request."""

import http.server
import threading

from . import _core

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text():
    """All pipelines of this process together, from its start on, those that were closed included, in Prometheus' text format.

    Units are seconds and bytes. Labels: stage ("read", "order", "parse", "map NAME", "deliver"), and le of the histogram. Taking
    it does not disturb the pipelines.
    """
    totals = _core.process_totals()
    lines = []

    def add(name, kind, text, samples):
        lines.extend((f"# HELP {name} {text}", f"# TYPE {name} {kind}"))
        lines.extend(f"{name}{rest} {_number(value)}" for rest, value in samples)

    def by_stage(attribute):
        return [(f'{{stage="{_escaped(stage.name)}"}}', getattr(stage, attribute)) for stage in totals.stages]

    add("headrace_pipelines", "gauge", "Open pipelines.", [("", totals.open_pipelines)])
    add("headrace_batches_total", "counter", "Batches that were delivered.", [("", totals.batches)])
    add("headrace_stage_busy_seconds_total", "counter", "Work of a stage, summed over threads.", by_stage("busy_seconds"))
    add("headrace_stage_starved_seconds_total", "counter", "Waits of a stage for input.", by_stage("starved_seconds"))
    add("headrace_stage_blocked_seconds_total", "counter", "Waits of a stage for room.", by_stage("blocked_seconds"))
    add("headrace_stage_records_total", "counter", "Records that left a stage.", by_stage("records"))
    add("headrace_stage_bytes_total", "counter", "Payload bytes that left a stage.", by_stage("bytes"))
    add("headrace_consumer_wait_seconds", "histogram", "How long next() lasted.", _histogram(totals))
    add("headrace_record_bytes", "gauge", "Memory in record blocks.", [("", totals.record_bytes)])
    add("headrace_batch_bytes", "gauge", "Memory in batches that are ready.", [("", totals.batch_bytes)])
    return "\n".join(lines) + "\n"


class MetricsServer:
    """Serves metrics_text() at http://HOST:PORT/metrics from a daemon thread, until close().

    Args:
        port: 0: any that is free; see the attribute `port`.
        host: the address to listen at. Whoever reaches it can read the numbers.

    Raises:
        OSError: when it cannot listen there.
    """

    def __init__(self, port=0, host="127.0.0.1"):
        self._server = http.server.ThreadingHTTPServer((host, port), _Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="headrace metrics", daemon=True).start()

    def close(self):
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body = metrics_text().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass  # a line on stderr for each scrape is nobody's wish


def _histogram(totals):
    samples, count = [], 0
    for wait in totals.waits:
        count += wait.count
        samples.append((f'_bucket{{le="{_number(wait.seconds)}"}}', count))
    return [*samples, ("_sum", totals.wait_seconds), ("_count", count)]


def _number(value):
    if value == float("inf"):
        return "+Inf"
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def _escaped(name):
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
