"""Due: when a timer is due, as a program writes it. The runtime checks the times and expressions when the timer is set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final, Literal

_MS: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Due:
    """When a timer is due: `Due.after(timedelta(minutes=15))`."""

    kind: Literal["at", "after", "every", "cron"]
    ms: int = 0
    expression: str = ""
    zone: str = "UTC"

    @staticmethod
    def at(time: datetime) -> Due:
        """Due once, at a time, which has a time zone. A time in the past is due immediately."""
        if time.tzinfo is None:
            raise ValueError("the time of a timer has a time zone, such as datetime.now(timezone.utc)")
        return Due("at", max(0, -((_EPOCH - time) // _MS)))

    @staticmethod
    def after(pause: timedelta) -> Due:
        """Due once, after the time of the call that sets the timer; immediately if the pause is negative."""
        return Due("after", whole_ms(pause))

    @staticmethod
    def every(pause: timedelta) -> Due:
        """Due again and again, at least a second apart; for the first time that long after the timer is set."""
        return Due("every", whole_ms(pause))

    @staticmethod
    def cron(expression: str, zone: str = "UTC") -> Due:
        """Due at each time that a cron expression of five fields matches. `zone`: IANA time zone, such as `Europe/Berlin`."""
        return Due("cron", 0, expression, zone)


def whole_ms(pause: timedelta) -> int:
    """Rounds fractions of a millisecond up, so that a timer is never due early."""
    return max(0, -(-pause // _MS))


@dataclass(frozen=True)
class DeferredCall:
    """A command with its target and its input, which a timer sends later. `deferred` of a command makes it."""

    component: str
    id: str
    command: str
    #: JSON text.
    input: str


@dataclass(frozen=True)
class Timer:
    """A timer as it is set. `attempts`: number of attempts of a firing; None: as many as the settings of the runtime have."""

    name: str
    due: Due
    call: DeferredCall
    attempts: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the name of a timer is a text, found {type(self.name).__name__}")
        if not isinstance(self.due, Due):
            raise TypeError(f"timer '{self.name}': its due time is not one of Due, such as Due.after(timedelta(seconds=1))")
        if not isinstance(self.call, DeferredCall):
            raise TypeError(f"timer '{self.name}': its call is not one that `deferred` of a command makes")
