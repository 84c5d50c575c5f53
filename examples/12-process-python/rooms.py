"""The rooms: a view with a row for each, which is folded from the events of all sensors."""

from __future__ import annotations

from dataclasses import dataclass

from svc_process import EventContext, FoldContext, RowChange, View

from sensor import Measured, SensorEvent, sensor


@dataclass(frozen=True)
class Room:
    """The highest reading of a room, and the sensor that measured it."""

    highest: float
    sensor: str


rooms: View[Room] = View("rooms", Room, version="1")


@rooms.keys(sensor)
def keys(event: SensorEvent, _context: EventContext) -> list[str]:
    return [event.room] if isinstance(event, Measured) else []


@rooms.fold(sensor)
def fold(row: Room | None, event: SensorEvent, context: FoldContext) -> RowChange[Room]:
    if not isinstance(event, Measured) or (row is not None and row.highest >= event.celsius):
        return context.keep()
    return context.put(Room(event.celsius, context.entity_id))
