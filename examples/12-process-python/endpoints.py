"""The sensors and the rooms over HTTP."""

from __future__ import annotations

from svc_process import Context, Endpoint, Refusal

from rooms import Room, rooms
from sensor import HangUp, Measure, Summary, get, hang_up, measure, sensor

sensors_endpoint = Endpoint("/sensors", access="internet")
rooms_endpoint = Endpoint("/rooms", access="internet")


@sensors_endpoint.get("/{id}")
async def get_sensor(id: str, context: Context) -> Summary:
    return await context.entity(sensor, id).call(get)


@sensors_endpoint.put("/{id}")
async def put_sensor(id: str, body: HangUp, context: Context) -> Summary:
    return await context.entity(sensor, id).call(hang_up, body)


@sensors_endpoint.post("/{id}/readings")
async def post_reading(id: str, body: Measure, context: Context) -> Summary:
    return await context.entity(sensor, id).call(measure, body)


@rooms_endpoint.get("/{room}")
async def get_room(room: str, context: Context) -> Room:
    row = await context.row(rooms, room)
    if row is None:
        raise Refusal(f"nothing was measured in the room '{room}'", "NOT_FOUND")
    return row
