"""The servers of this question, each a process of its own: nginx, a link of known speed, and a bucket of many keys.

The link: every answer is late by a round trip, a connection carries so many bytes a second, and all of them together so many
more. Bodies go out by sendfile, so that the server costs little of the machine that is being measured.

Usage: servers.py link FOLDER LATENCY_MS CONNECTION_MB TOTAL_MB | servers.py bucket KEYS; prints its URL.
"""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

CHUNK_BYTES = 256 << 10
PAGE_KEYS = 1000


class Rate:
    """Hands out bytes at so many a second; take() waits until its turn is over. Any thread."""

    def __init__(self, bytes_per_second):
        self._rate = bytes_per_second
        self._lock = threading.Lock()
        self._free_at = 0.0

    def take(self, count):
        with self._lock:
            now = time.monotonic()
            self._free_at = max(self._free_at, now - 0.01) + count / self._rate
            wait = self._free_at - now
        if wait > 0:
            time.sleep(wait)


class Link(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = latency_s = connection_rate = total = None  # of the server

    def setup(self):
        super().setup()
        time.sleep(self.latency_s)  # the handshake
        self.own = Rate(self.connection_rate)

    def do_GET(self):
        time.sleep(self.latency_s)
        file = open(self.folder / self.path.lstrip("/"), "rb")
        with file:
            size = os.fstat(file.fileno()).st_size
            first, last = self.headers["range"].removeprefix("bytes=").split("-")
            first, end = int(first), min(int(last) + 1, size)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
            self.send_header("Content-Length", str(end - first))
            self.send_header("ETag", f'"{size}"')
            self.end_headers()
            self.wfile.flush()
            while first < end:
                count = min(CHUNK_BYTES, end - first)
                self.own.take(count)
                self.total.take(count)
                first += os.sendfile(self.connection.fileno(), file.fileno(), first, count)

    def log_message(self, *_):
        pass


class Bucket(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    keys = 0

    def do_GET(self):
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        first = int(query.get("continuation-token", "0"))
        end = min(first + PAGE_KEYS, self.keys)
        entries = "".join(
            f"<Contents><Key>train/shard-{i:06d}.tfrecord</Key><LastModified>2026-11-30T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;{i:032x}&quot;</ETag><Size>{i}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for i in range(first, end)
        )
        more = end < self.keys
        token = f"<NextContinuationToken>{end}</NextContinuationToken>" if more else ""
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{entries}</ListBucketResult>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):  # a client that ended its run
        pass


@contextlib.contextmanager
def running(*arguments):
    """The URL of a server of this module."""
    process = subprocess.Popen([sys.executable, __file__, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def nginx(folder):
    """The URL of an nginx that serves `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as own:
        user = "user root;" if os.geteuid() == 0 else ""
        places = "".join(f"{name}_temp_path {own}/{name};" for name in ("proxy", "fastcgi", "uwsgi", "scgi", "client_body"))
        (Path(own) / "conf").write_text(
            f"{user} worker_processes 1; daemon off; pid {own}/pid; events {{ worker_connections 512; }}\n"
            f"http {{ access_log off; sendfile on; keepalive_requests 1000000; {places}\n"
            f"server {{ listen 127.0.0.1:{port}; location / {{ root {folder}; }} }} }}\n"
        )
        command = ["/usr/sbin/nginx", "-e", f"{own}/error", "-p", own, "-c", f"{own}/conf"]
        process = subprocess.Popen(command)
        try:
            while process.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def main():
    kind, *arguments = sys.argv[1:]
    if kind == "link":
        Link.folder = Path(arguments[0])
        Link.latency_s = float(arguments[1]) / 1000
        Link.connection_rate = float(arguments[2]) * 1e6
        Link.total = Rate(float(arguments[3]) * 1e6)
        server = Server(("127.0.0.1", 0), Link)
    else:
        Bucket.keys = int(arguments[0])
        server = Server(("127.0.0.1", 0), Bucket)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
