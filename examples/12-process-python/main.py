"""The process: svc starts it and calls it. Nothing of the service is stored in it."""

from svc_process import serve

from endpoints import rooms_endpoint, sensors_endpoint
from rooms import rooms
from sensor import sensor

if __name__ == "__main__":
    # The version changes whenever the same events give another state: with it the runtime stores snapshots.
    serve(entities=[sensor], endpoints=[sensors_endpoint, rooms_endpoint], views=[rooms], version="1")
