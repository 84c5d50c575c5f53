"""A book of a library: who has it, and how often it was lent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from svc_process import CommandContext, Effect, Entity, Length, QueryContext, Refusal


@dataclass(frozen=True)
class Loan:
    """The state of a book. The runtime computes it from the events."""

    reader: str = ""
    count: int = 0


@dataclass(frozen=True)
class Lend:
    reader: Annotated[str, Length(min=1)]


# Everything that can happen to a book. These events are stored for good.
@dataclass(frozen=True)
class Lent:
    reader: str


@dataclass(frozen=True)
class Returned:
    pass


BookEvent = Lent | Returned

book = Entity("book", Loan, events=BookEvent)


@book.apply
def apply(state: Loan, event: BookEvent) -> Loan:
    """Returns the next state. It decides nothing: the event has already happened."""
    match event:
        case Lent(reader):
            return Loan(reader, state.count + 1)
        case Returned():
            return replace(state, reader="")


@book.command("lend")
def lend(state: Loan, input: Lend, context: CommandContext) -> Effect[Loan]:
    """Decides: refuses, or returns the events that happen."""
    if state.reader != "":
        raise Refusal(f"{state.reader} has it", "CONFLICT")
    return context.persist(Lent(input.reader)).then_reply_state()


@book.command("give-back")
def give_back(state: Loan, context: CommandContext) -> Effect[None]:
    if state.reader == "":
        return context.reply()
    return context.persist(Returned()).then_reply()


@book.query("get")
def get(state: Loan, _context: QueryContext) -> Loan:
    return state
