"""Mismatch: the differences between a value and its type, each with the path to it.

Invariant: it has at most PROBLEMS_MAX differences, however many a caller's value has, and its paths are bounded as well.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

PROBLEMS_MAX: Final = 20
_SHOWN_MAX: Final = 40
_PATH_MAX: Final = 200


class Mismatch(Exception):
    """Differences between a value and its type."""

    __slots__ = ("problems",)

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.problems: list[tuple[str, str]] = [("", message)]

    def within(self, part: str | int) -> Mismatch:
        """Adds an outer step to the paths."""
        step = f"[{part}]" if isinstance(part, int) else part
        self.problems = [
            (shortened(step + ("" if path == "" or path.startswith("[") else ".") + path, _PATH_MAX), message)
            for path, message in self.problems
        ]
        return self

    def text(self, label: str) -> str:
        """Returns `items[2].sku: must be a string, found 1; total: is missing`. `label` is used where there is no path."""
        texts = [f"{label if path == '' else path}: {message}" for path, message in self.problems]
        ending = "" if len(texts) < PROBLEMS_MAX else "; and perhaps more"
        return "; ".join(texts) + ending


def gathered(found: Mismatch | None, error: Mismatch) -> Mismatch:
    """Adds differences to those that were found before. Raises them once there are PROBLEMS_MAX."""
    if found is None:
        return error
    found.problems = [*found.problems, *error.problems][:PROBLEMS_MAX]
    if len(found.problems) == PROBLEMS_MAX:
        raise found
    return found


def mismatch(wanted: str, found: Any) -> NoReturn:
    """Raises the difference."""
    raise Mismatch(f"must be {wanted}, found {_shown(found)}")


def shortened(text: str, length_max: int) -> str:
    """Returns the text, or its beginning with an ellipsis."""
    return text if len(text) <= length_max else f"{text[:length_max]}…"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple, frozenset)):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if value is None or isinstance(value, (bool, int, float)):
        return shortened(json.dumps(value), _SHOWN_MAX)
    if isinstance(value, str):
        return json.dumps(well_formed(shortened(value, _SHOWN_MAX)), ensure_ascii=False)
    return f"a value of {type(value).__name__}"


def well_formed(text: str) -> str:
    """Replaces halves of surrogate pairs, which no text in UTF-8 can have."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
