"""The sensors in memory, without a runtime. After every command the sensor is replayed from its events and compared."""

import unittest

from svc_process import Refusal
from svc_process.testing import MemoryService

from endpoints import rooms_endpoint, sensors_endpoint
from rooms import Room, rooms
from sensor import HangUp, HungUp, Measure, Measured, Summary, get, hang_up, measure, sensor


class SensorTest(unittest.TestCase):
    def setUp(self) -> None:
        endpoints = [sensors_endpoint, rooms_endpoint]
        self.service = MemoryService(entities=[sensor], endpoints=endpoints, views=[rooms])

    def test_a_sensor_has_the_median_of_its_last_readings(self) -> None:
        self.service.call(hang_up, "s1", HangUp("kitchen"))
        for celsius in (60.0, 19.0, 20.0, 21.0, 22.0, 23.0):
            self.service.call(measure, "s1", Measure(celsius))
        self.assertEqual(self.service.call(get, "s1"), Summary("kitchen", 21.0))
        events = self.service.events(sensor, "s1")
        self.assertEqual(events[:2], [HungUp("kitchen"), Measured("kitchen", 60.0)])

    def test_a_sensor_that_hangs_in_no_room_measures_nothing(self) -> None:
        with self.assertRaisesRegex(Refusal, "hangs in no room"):
            self.service.call(measure, "s1", Measure(20.0))

    def test_a_room_has_the_highest_reading_of_its_sensors(self) -> None:
        for id, room, celsius in (("s1", "kitchen", 21.0), ("s2", "kitchen", 23.0), ("s3", "hall", 18.0)):
            self.service.call(hang_up, id, HangUp(room))
            self.service.call(measure, id, Measure(celsius))
        self.service.call(measure, "s1", Measure(22.0))
        self.assertEqual(self.service.rows(rooms), {"kitchen": Room(23.0, "s2"), "hall": Room(18.0, "s3")})

    def test_the_routes(self) -> None:
        self.service.request("PUT", "/sensors/s1", body={"room": "kitchen"})
        answer = self.service.request("POST", "/sensors/s1/readings", body={"celsius": 21.5})
        self.assertEqual(answer.json(), {"room": "kitchen", "median": 21.5})
        self.assertEqual(self.service.request("GET", "/rooms/kitchen").json(), {"highest": 21.5, "sensor": "s1"})
        with self.assertRaisesRegex(Refusal, "nothing was measured"):
            self.service.request("GET", "/rooms/hall")
        with self.assertRaisesRegex(Refusal, "celsius"):
            self.service.request("POST", "/sensors/s1/readings", body={"celsius": 400})


if __name__ == "__main__":
    unittest.main()
