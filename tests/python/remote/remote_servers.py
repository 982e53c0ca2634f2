"""Servers on loopback for the tests of remote storage: nginx, moto's S3, and one that misbehaves as it is told."""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url, process, seconds=60):
    """Until `url` answers, with whatever status."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(url)


NGINX = """
{user}
worker_processes 1;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
daemon off;
events {{ worker_connections 512; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port};
    {tls}
    location / {{ root {root}; }}
    location /private/ {{ return 403; }}
    location /status {{ stub_status; }}
    location /secret/ {{
      auth_basic "secret"; auth_basic_user_file {folder}/passwords;
      alias {root}/;
    }}
    location /moved/ {{ rewrite ^/moved/(.*)$ /$1 redirect; }}
  }}
}}
"""


@contextlib.contextmanager
def nginx(root, folder, tls=""):
    """The URL of an nginx that serves the folder `root`; its own files lie in `folder`."""
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""  # else another one, who may not read what is ours
    (folder / "passwords").write_text("user:{PLAIN}open sesame\n")
    (folder / "nginx.conf").write_text(NGINX.format(user=user, folder=folder, root=root, port=port, tls=tls))
    program = "/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else "nginx"
    command = [program, "-e", f"{folder}/error.log", "-p", str(folder), "-c", f"{folder}/nginx.conf"]
    process = subprocess.Popen(command)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(20)


@contextlib.contextmanager
def moto():
    """The URL of a moto server: an S3 in memory."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/moto-api/", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


class Misbehaving:
    """A server of files in memory, which misbehaves as it is told.

    Attributes:
        files: {path: bytes}.
        etags: {path: entity tag}; "one" where there is none.
        requests: the Request of everything that was asked, in order.
        faults: functions of (server, request), each of which answers one request, in order; then all is well.
        always: one that answers all of them.
        most_at_once: requests that were being answered at the same time.
    """

    def __init__(self):
        self.files = {}
        self.etags = {}
        self.requests = []
        self.faults = []
        self.always = None
        self.lock = threading.Lock()
        self.most_at_once = 0
        self._at_once = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                length = int(self.headers.get("content-length") or 0)
                request = Request(self, self.rfile.read(length) if length else b"")
                with outer.lock:
                    outer.requests.append(request)
                    outer._at_once += 1
                    outer.most_at_once = max(outer.most_at_once, outer._at_once)
                    fault = outer.always or (outer.faults.pop(0) if outer.faults else well)
                try:
                    fault(outer, request)
                finally:
                    with outer.lock:
                        outer._at_once -= 1

            do_GET = do_PUT = do_POST = do_HEAD = handle_one

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):  # a client that went away
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def paths(self):
        with self.lock:
            return [request.path for request in self.requests]

    def serve(self, request, has_ranges=True, cut_to=None, extra_headers=(), body_of=None, pause=None, pause_at=0):
        """The right answer, but for what the arguments say."""
        data = self.files.get(request.path)
        if data is None:
            return request.send(404, [], b"not here")
        etag = self.etags.get(request.path, '"one"')
        if request.header("if-match") not in (None, etag):
            return request.send(412, [], b"")
        headers = [("ETag", etag), *extra_headers]
        status, body = 200, data
        wanted = request.range()
        if has_ranges and wanted is not None:
            first, last = wanted
            if first >= len(data):
                return request.send(416, [("Content-Range", f"bytes */{len(data)}"), *headers], b"")
            last = min(last, len(data) - 1)
            status, body = 206, data[first : last + 1]
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(data)}"))
        length = len(body)
        if body_of is not None:
            body = body_of(body)
        if cut_to is not None:
            body = body[:cut_to]
        request.send(status, headers, body, length=length, pause=pause, pause_at=pause_at)


class Request:
    def __init__(self, handler, body):
        self._handler = handler
        self.target = handler.path
        self.path, _, self.query = handler.path.partition("?")
        self.method = handler.command
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body

    def header(self, name):
        return self.headers.get(name)

    def range(self):
        text = self.header("range")
        if text is None:
            return None
        first, _, last = text.removeprefix("bytes=").partition("-")
        return int(first), int(last)

    def send(self, status, headers, body, length=None, pause=None, pause_at=0):
        """Sends an answer whose Content-Length may promise more than comes."""
        handler = self._handler
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        handler.wfile.write(body[:pause_at])
        handler.wfile.flush()
        if pause is not None:
            pause()
        handler.wfile.write(body[pause_at:])
        if length is not None and length != len(body):
            self.drop()

    def drop(self):
        """Closes the connection without an answer, or in the middle of one."""
        handler = self._handler
        handler.close_connection = True
        with contextlib.suppress(OSError):
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)


# Faults: functions of (server, request).


def dropped(server, request):
    request.drop()


def status(code, *headers, body=b""):
    def fault(server, request):
        request.send(code, list(headers), body)

    return fault


def cut_after(count):
    def fault(server, request):
        server.serve(request, cut_to=count)

    return fault


def without_ranges(server, request):
    server.serve(request, has_ranges=False)


def other_range(server, request):
    data = server.files[request.path]
    request.send(206, [("Content-Range", f"bytes 1-{len(data) - 1}/{len(data)}"), ("ETag", '"one"')], data[1:])


def well(server, request):
    server.serve(request)
