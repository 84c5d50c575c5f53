"""Frames: values of the SDK as frames of the protocol, and back."""

from __future__ import annotations

import json
from typing import Any, Sequence

from .codec import json_text
from .consumer import Verdict
from .due import Timer
from .effects import Effect
from .errors import CallFailed, Cancelled, Fault
from .faults import fault_of
from .generated.svc.process.v1 import process_pb2 as pb
from .handlers import NO_BODY, Body, GivenEvent, GivenRequest, GivenResponse
from .json_form import json_form
from .mismatch import well_formed
from .refusal import Refusal


def refusal_of(frame: Any) -> Refusal:
    """Reads a refusal. Details that are no JSON, or are nested too deep, are left out."""
    details = None
    if frame.HasField("details"):
        try:
            details = json_form(json.loads(frame.details), "the details")
        except (ValueError, RecursionError):
            details = None
    code = frame.code or "OTHER"
    try:
        return Refusal(frame.message, code, details=details, other_code=frame.other_code)
    except ValueError:
        return Refusal(frame.message, "OTHER", details=details, other_code=code)


def put_refusal(frame: Any, refusal: Refusal) -> None:
    """Writes a refusal into the frame of an answer. Raises TypeError for details that have no JSON form."""
    target = frame.refusal
    target.code = refusal.code
    target.other_code = well_formed(refusal.other_code)
    target.message = well_formed(refusal.message)
    if refusal.details is not None:
        target.details = well_formed(json_text(refusal.details))


def put_failure(frame: Any, error: BaseException, what: str) -> None:
    """Writes the error with which a call has ended into the frame of its answer. One that cannot be written is a fault."""
    try:
        if isinstance(error, Refusal):
            put_refusal(frame, error)
        elif isinstance(error, CallFailed):
            frame.passed.number = error.number
        elif isinstance(error, Cancelled):
            _put_fault(frame, Fault("time", f"{what} was cancelled: {error}"))
        else:
            _put_fault(frame, fault_of(what, error))
    except Exception as problem:
        _put_fault(frame, fault_of(f"the error of {what}", problem))


def _put_fault(frame: Any, fault: Fault) -> None:
    frame.fault.cause = fault.cause
    frame.fault.message = well_formed(fault.message)
    frame.fault.stack = well_formed(fault.stack)


def put_effect(frame: Any, effect: Effect[Any], manifest: str, reply: str, problem: str | None) -> None:
    """Writes an effect into the frame of an answer."""
    target = frame.effect
    for _, text in effect.events:
        stored = target.events.add()
        stored.manifest = manifest
        stored.json = text
    target.reply = reply
    if effect.deletes:
        target.deletes_entity = True
    if effect.reply is None:
        target.replies_after = True
    if problem is not None:
        target.problem = well_formed(problem)
    for timer in effect.timers:
        change = target.timers.add()
        if isinstance(timer, str):
            change.cancel = timer
        else:
            put_timer(change.set, timer)


def put_timer(target: Any, timer: Timer) -> None:
    """Writes a timer."""
    call, due = timer.call, timer.due
    target.name = timer.name
    target.component = call.component
    target.id = call.id
    target.command = call.command
    target.input = call.input
    if due.kind == "at":
        target.at_ms = due.ms
    elif due.kind == "after":
        target.after_ms = due.ms
    elif due.kind == "every":
        target.every_ms = due.ms
    else:
        target.cron.expression = due.expression
        target.cron.zone = due.zone
    if timer.attempts is not None:
        target.attempts = timer.attempts


def request_of(handle: Any) -> GivenRequest:
    """Reads the request of a route."""
    return GivenRequest(
        handle.route,
        list(handle.parameters),
        handle.query,
        [(one.name, one.value) for one in handle.headers],
        handle.caller,
        body_of(handle.body) if handle.HasField("body") else NO_BODY,
    )


def body_of(body: Any) -> Body:
    """Reads a body."""
    kind = body.WhichOneof("kind")
    return NO_BODY if kind is None else Body(kind, getattr(body, kind))


def put_response(frame: Any, response: GivenResponse) -> None:
    """Writes the response of a route."""
    target = frame.response
    target.status = response.status
    put_headers(target.headers, response.headers)
    kind, value = response.body
    if kind == "json":
        target.body.json = value
    elif kind == "text":
        target.body.text = value
    elif kind == "bytes":
        target.body.bytes = value
    else:
        target.body.SetInParent()


def put_headers(target: Any, headers: Sequence[tuple[str, str]]) -> None:
    """Writes headers."""
    for name, value in headers:
        header = target.add()
        header.name = name
        header.value = value


def event_of(event: Any) -> GivenEvent:
    """Reads an event of an entity."""
    stored = event.event
    return GivenEvent(event.component, event.id, event.seq, event.time_ms, stored.manifest, stored.json)


def put_verdict(frame: Any, verdict: Verdict) -> None:
    """Writes a verdict."""
    target = frame.verdict
    if verdict.kind == "done":
        target.done.SetInParent()
    elif verdict.kind == "skip":
        target.skip = well_formed(verdict.reason)
    else:
        target.retry.reason = well_formed(verdict.reason)
        if verdict.after_ms is not None:
            target.retry.after_ms = verdict.after_ms


def new_answer(call: int) -> Any:
    """Returns the empty frame of an answer."""
    frame = pb.FromProcessFrame()
    frame.call = call
    return frame
