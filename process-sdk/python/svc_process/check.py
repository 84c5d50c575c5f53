"""Check: a function that runs before the handlers of several routes, and holds what they have in common, such as who calls.

Invariant: a mistake admits nobody. A check that returns nothing without the type `None`, or that returns a refusal in place of raising it, is a
fault.
"""

from __future__ import annotations

import inspect
import types
import typing
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from .declared import Declared
from .errors import DefinitionError
from .refusal import Refusal
from .request import Request
from .type_reader import hints_of


@dataclass(frozen=True)
class CheckRequest(Request):
    """A request of which nothing is decoded yet: a parameter of a check with the name `request` receives it."""

    parameters: Mapping[str, str]

    def parameter(self, name: str) -> str:
        """Returns a parameter of the path as text. Raises LookupError if the route has no such parameter, which is a fault."""
        if name not in self.parameters:
            raise LookupError(f"the path of the route has no parameter '{name}'")
        return self.parameters[name]


@dataclass(frozen=True)
class Check:
    """A check and its declarations."""

    function: Callable[..., Any]
    is_async: bool
    #: Names of its parameters, in order.
    arguments: tuple[str, ...]
    #: Whether its type says that it may return nothing.
    may_be_none: bool
    declared: Declared

    def passed_on(self, result: Any) -> Any:
        """Returns what the next check or the handler is given. Raises TypeError for a mistake."""
        if isinstance(result, Refusal):
            raise TypeError("a check returned a Refusal: raise it")
        if result is None and not self.may_be_none:
            raise TypeError("a check returned nothing, and its type is another one: return what the handler is given, or raise a Refusal")
        return result


def check_of(function: Callable[..., Any], declared: Declared, is_first: bool, location: str) -> Check:
    """Reads a check. Raises DefinitionError."""
    hints = hints_of(function, location)
    arguments = tuple(inspect.signature(function).parameters)
    known = ("request", "context") if is_first else ("request", "context", "given")
    for argument in arguments:
        if argument not in known:
            raise DefinitionError(f"{location}: it has a parameter '{argument}': use the names {', '.join(known)}")
    if "return" not in hints:
        raise DefinitionError(f"{location}: it has no type of what it returns: write -> None, or the type of what handlers are given")
    returned = hints["return"]
    is_union = typing.get_origin(returned) in (typing.Union, types.UnionType)
    may_be_none = returned is type(None) or (is_union and type(None) in typing.get_args(returned))
    return Check(function, inspect.iscoroutinefunction(function), arguments, may_be_none, declared)
