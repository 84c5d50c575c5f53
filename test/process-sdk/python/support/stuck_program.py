"""A program with a command that computes without end, and a query that prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from svc_process import CommandContext, Effect, Entity, QueryContext, serve


@dataclass(frozen=True)
class Stuck:
    pass


stuck = Entity("stuck", Stuck, events=Stuck)


@stuck.apply
def apply(state: Stuck, _event: Stuck) -> Stuck:
    return state


@stuck.command("compute")
def compute(_state: Stuck, context: CommandContext) -> Effect[None]:
    print("computing", file=sys.stderr, flush=True)
    while True:
        pass


@stuck.query("greet")
def greet(_state: Stuck, _context: QueryContext) -> str:
    print("it was asked")
    return "hello"


serve(entities=[stuck])
