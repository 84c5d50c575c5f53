"""A sensor: the room that it hangs in, and its last readings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Annotated

from svc_process import CommandContext, Effect, Entity, Length, QueryContext, Range, Refusal

#: Number of readings of which the median is taken.
READINGS_MAX = 5

Celsius = Annotated[float, Range(min=-60, max=100)]


@dataclass(frozen=True)
class Sensor:
    """The state. A sensor that nobody has hung up has no room."""

    room: str = ""
    readings: tuple[float, ...] = ()


@dataclass(frozen=True)
class HangUp:
    room: Annotated[str, Length(1, 40)]


@dataclass(frozen=True)
class Measure:
    celsius: Celsius


@dataclass(frozen=True)
class Summary:
    room: str
    median: float | None


@dataclass(frozen=True)
class HungUp:
    room: str


@dataclass(frozen=True)
class Measured:
    room: str
    celsius: float


SensorEvent = HungUp | Measured

sensor = Entity("sensor", Sensor, events=SensorEvent)


@sensor.apply
def apply(state: Sensor, event: SensorEvent) -> Sensor:
    match event:
        case HungUp(room):
            return Sensor(room)
        case Measured(celsius=celsius):
            return replace(state, readings=(*state.readings, celsius)[-READINGS_MAX:])


def summary(state: Sensor) -> Summary:
    return Summary(state.room, median(state.readings) if state.readings else None)


@sensor.command("hang-up")
def hang_up(state: Sensor, input: HangUp, context: CommandContext) -> Effect[Summary]:
    if state.room == input.room:
        return context.reply(summary(state))
    return context.persist(HungUp(input.room)).then_reply_from(summary)


@sensor.command("measure")
def measure(state: Sensor, input: Measure, context: CommandContext) -> Effect[Summary]:
    if state.room == "":
        raise Refusal("the sensor hangs in no room", "CONFLICT")
    return context.persist(Measured(state.room, input.celsius)).then_reply_from(summary)


@sensor.query("get")
def get(state: Sensor, _context: QueryContext) -> Summary:
    return summary(state)
