# A WSGI application on wsgiref that answers each request with what it has received. Its argument is the port.
import hashlib
import os
import sys
import time
from wsgiref.simple_server import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


# Sends an event for each file that appears.
def events(path):
    for number in range(3):
        while not os.path.exists(f"{path}.{number}"):
            time.sleep(0.01)
        yield b"data: %d\n\n" % number


def application(environ, start_response):
    if environ["PATH_INFO"] == "/events":
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        return events(environ["QUERY_STRING"])
    if environ["PATH_INFO"] == "/big":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"x" * int(environ["QUERY_STRING"])]
    length = int(environ.get("CONTENT_LENGTH") or "0")
    body = environ["wsgi.input"].read(length)
    query = f"?{environ['QUERY_STRING']}" if environ["QUERY_STRING"] else ""
    report = [
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"] + query,
        environ.get("HTTP_X_SVC_CALLER", ""),
        f"={body.hex()}" if len(body) <= 4096 else f"{len(body)}-{hashlib.md5(body).hexdigest()}",
    ]
    start_response("200 OK", [("X-Report", " ".join(report)), ("Content-Length", "3")])
    return [b"ok\n"]


make_server("127.0.0.1", int(sys.argv[1]), application, handler_class=Quiet).serve_forever()
