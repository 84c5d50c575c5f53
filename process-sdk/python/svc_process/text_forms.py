"""TextForms: dates with time as RFC 3339, exact decimals, durations as ISO 8601 and bytes as base64, in their one form."""

from __future__ import annotations

import base64
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Final

from .mismatch import Mismatch, mismatch

_DATE_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?")
_DECIMAL: Final = re.compile(r"(?!-0(\.0+)?$)-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
_DECIMAL_DIGITS_MAX: Final = 100
_DURATION: Final = re.compile(
    r"(-?)P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?", re.ASCII
)
_DURATION_LENGTH_MAX: Final = 100
_DURATION_MS_MAX: Final = 8_640_000_000_000_000
_MS: Final = timedelta(milliseconds=1)


def date_time_of(text: str) -> datetime:
    """Reads a date with time, down to the millisecond."""
    wanted = "a date and time like 2026-02-28T12:30:00.000Z"
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        mismatch(wanted, text)
    fraction, zone = found[2] or "", found[3]
    ms = int((fraction[1:] + "000")[:3])
    try:
        local = datetime.fromisoformat(text[:19] + zone.replace("Z", "+00:00"))
        return local.astimezone(timezone.utc) + ms * _MS
    except (ValueError, OverflowError):
        mismatch(wanted, text)


def date_time_text(value: datetime) -> str:
    """Writes a date with time in UTC. What is below a millisecond is dropped."""
    if not isinstance(value, datetime):
        mismatch("a datetime", value)
    if value.tzinfo is None:
        raise Mismatch("must be a datetime with a time zone, such as datetime.now(timezone.utc)")
    utc = value.astimezone(timezone.utc)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z".rjust(24, "0")


def decimal_of(text: str) -> Decimal:
    """Reads a decimal of at most 100 digits."""
    digits = len(text) - text.count("-") - text.count(".")
    if digits > _DECIMAL_DIGITS_MAX or _DECIMAL.fullmatch(text) is None:
        mismatch("a decimal like 12.50, of at most 100 digits", text)
    return Decimal(text)


def decimal_text(value: Decimal) -> str:
    """Writes a decimal."""
    if not isinstance(value, Decimal) or not value.is_finite():
        mismatch("a finite Decimal", value)
    # A negative zero is written as zero, which has no sign.
    text = f"{abs(value) if value.is_zero() else value:f}"
    decimal_of(text)
    return text


def duration_of(text: str) -> timedelta:
    """Reads a duration of days, hours, minutes and seconds."""
    found = _DURATION.fullmatch(text) if len(text) <= _DURATION_LENGTH_MAX else None
    if found is not None:
        days, hours, minutes, seconds = (int(found[index] or 0) for index in (2, 3, 4, 5))
        ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + int((found[6] or "").ljust(3, "0"))
        if ms <= _DURATION_MS_MAX and not (found[1] == "-" and ms == 0):
            return (-ms if found[1] == "-" else ms) * _MS
    mismatch("a duration like PT1H30M, of at most 100000000 days", text)


def duration_text(value: timedelta) -> str:
    """Writes a duration. What is below a millisecond is dropped."""
    if not isinstance(value, timedelta):
        mismatch("a timedelta", value)
    ms = abs(value) // _MS
    if ms > _DURATION_MS_MAX:
        mismatch("a timedelta of at most 100000000 days", value)
    if ms == 0:
        return "PT0S"
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    fraction = f"{rest:03d}".rstrip("0")
    last = f"{seconds}.{fraction}S" if fraction else (f"{seconds}S" if seconds else "")
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + last
    sign = "-" if value < timedelta(0) else ""
    return f"{sign}P{f'{days}D' if days else ''}{f'T{time}' if time else ''}"


def bytes_of(text: str) -> bytes:
    """Reads base64 with padding."""
    if _BASE64.fullmatch(text) is None:
        mismatch("bytes as base64 text", text)
    return base64.b64decode(text)


def bytes_text(value: bytes) -> str:
    """Writes base64 with padding."""
    if not isinstance(value, bytes):
        mismatch("bytes", value)
    return base64.b64encode(value).decode()
