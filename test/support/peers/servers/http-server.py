# A server on http.server that answers each request with what it has received. Its argument is the port.
import hashlib
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def answer(self):
        # self.path has fewer slashes at its beginning than the request line.
        target = self.requestline.split(" ")[1]
        path, _, query = target.partition("?")
        if path == "/events":
            return self.events(query)
        if path == "/big":
            return self.big(int(query))
        body = self.body()
        if body is None:
            self.close_connection = True
            return
        self.send_response(200)
        callers = ",".join(self.headers.get_all("X-Svc-Caller", []))
        self.send_header("X-Report", f"{self.command} {target} {callers} {shown(body)}")
        self.send_header("Content-Length", "3")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok\n")

    # Returns None if the body is not complete.
    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", "0"))
            body = self.rfile.read(length)
            return body if len(body) == length else None
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            if size == 0:
                break
            body += self.rfile.read(size)
            if self.rfile.readline() != b"\r\n":
                return None
        while True:
            line = self.rfile.readline()
            if line == b"\r\n":
                return body
            if line == b"":
                return None

    # Sends an event for each file that appears.
    def events(self, path):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(3):
            while not os.path.exists(f"{path}.{number}"):
                time.sleep(0.01)
            self.wfile.write(b"data: %d\n\n" % number)

    def big(self, size):
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(b"x" * size)

    def log_message(self, *_):
        pass


def shown(body):
    return f"={body.hex()}" if len(body) <= 4096 else f"{len(body)}-{hashlib.md5(body).hexdigest()}"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
