"""The process: svc starts it and calls it. Nothing of the service is stored in it."""

from svc_process import serve

from book import book
from library import books

if __name__ == "__main__":
    # Change the version whenever the same events give another state: with it the runtime stores snapshots.
    serve(entities=[book], endpoints=[books], version="1")
