"""MemoryQuery answers a query of a view from rows in memory, as the runtime does: it finds the same rows in the same order, and refuses a
query that no index of the view serves.

The rules are those of docs/reference/view-queries.md.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Final, Mapping, NamedTuple

from .codec import json_text
from .description import Description
from .errors import DefinitionError
from .query_text import Column, Condition, ParsedQuery, QueryProblem, parse_query, written
from .refusal import Refusal
from .shape import Boolean, Field, Integer, Nullable, Number, Record, Shape, Text, record_of, target_of
from .shape_codec import converters_of
from .view import View, ViewQuery

#: The most rows of a page, and the most that are counted.
_PAGE_ROWS_MAX: Final = 1_000
_COUNT_MAX: Final = 10_000
_INDEX_FIELDS_MAX: Final = 4


class _Row(NamedTuple):
    """A row that fits."""

    #: Its columns after those with `=`, and its key, as they are compared.
    order: tuple[Any, ...]
    #: The same, as JSON has them.
    position: list[Any]
    text: str


class MemoryQuery:
    """A query of a view."""

    def __init__(self, view: View[Any], query: ViewQuery[Any]) -> None:
        """Raises DefinitionError for a query that the runtime refuses."""
        self._view = view
        self._name = query.name
        row = record_of(view.row.shape)
        try:
            if row is None:
                raise QueryProblem("the row of the view is no dataclass")
            parsed = parse_query(query.where)
            self._values = _columns_of(parsed, row, None if query.parameters is None else record_of(query.parameters.shape))
            self._columns = _walked_columns(parsed, view.indexes)
            unordered = next((one for one in self._columns if one not in self._values), None)
            if unordered is not None:
                raise QueryProblem(f"its index has {written(unordered)}, which the row does not have, or which has no order")
        except QueryProblem as problem:
            raise DefinitionError(f"view '{view.id}', query '{query.name}': {problem}") from None
        self._conditions = parsed.conditions
        self._is_descending = parsed.is_descending

    def count(self, rows: Mapping[str, str], input: str) -> str:
        """Returns the JSON of the number of rows that fit. `input`: JSON of the parameters."""
        count = len(self._fitting(rows, input))
        return json_text({"count": min(count, _COUNT_MAX), "hasMore": count > _COUNT_MAX})

    def page(self, rows: Mapping[str, str], input: str, limit: int, cursor: str | None) -> tuple[list[str], str | None]:
        """Returns the JSON of rows that fit, and the cursor of the next page. `rows`: JSON of all rows by their keys. Raises Refusal."""
        if limit > _PAGE_ROWS_MAX:
            raise Refusal(f"A page cannot have {limit} rows. Give a limit from 1 to {_PAGE_ROWS_MAX} (svc.views.page-rows-max).")
        found = self._fitting(rows, input)
        if cursor is not None:
            after = self._order_of(cursor)
            found = [one for one in found if (one.order < after if self._is_descending else one.order > after)]
        page = found[:limit]
        following = json_text([self._name, *page[-1].position]) if len(found) > limit else None
        return [one.text for one in page], following

    def _fitting(self, rows: Mapping[str, str], input: str) -> list[_Row]:
        """Returns the rows that fit, in the order of the query."""
        parameters = json.loads(input)
        tests = [(one.column, self._test(one, parameters)) for one in self._conditions]
        found: list[_Row] = []
        for key, text in rows.items():
            row = json.loads(text)
            if all(test(self._value(row, key, column)) for column, test in tests):
                raw = [key if column is None else row.get(column) for column in self._columns]
                found.append(_Row(self._compared(raw), raw, text))
        return sorted(found, key=lambda one: one.order, reverse=self._is_descending)

    def _test(self, condition: Condition, parameters: Mapping[str, Any]) -> Callable[[Any], bool]:
        column, operator, name = condition
        wanted = self._values[column](parameters.get(name))
        if operator == "=":
            return lambda value: bool(value == wanted)
        if wanted is None:
            return lambda _value: False
        compare: Mapping[str, Callable[[Any], bool]] = {
            "starts with": lambda value: value.startswith(wanted),
            "<": lambda value: value < wanted,
            "<=": lambda value: value <= wanted,
            ">": lambda value: value > wanted,
            ">=": lambda value: value >= wanted,
        }
        test = compare[operator]
        return lambda value: value is not None and test(value)

    def _value(self, row: Mapping[str, Any], key: str, column: Column) -> Any:
        return key if column is None else self._values[column](row.get(column))

    def _compared(self, raw: list[Any]) -> tuple[Any, ...]:
        """Converts a position for comparison: null is first."""
        values = [one if column is None else self._values[column](one) for column, one in zip(self._columns, raw)]
        return tuple((value is not None, value) if value is not None else (False,) for value in values)

    def _order_of(self, cursor: str) -> tuple[Any, ...]:
        """Reads a cursor. Raises Refusal if it is none of this query."""
        try:
            name, *raw = json.loads(cursor)
            if name == self._name and len(raw) == len(self._columns) and isinstance(raw[-1], str):
                return self._compared(raw)
        except Exception:  # Whatever a wrong cursor contains, it is one.
            pass
        raise Refusal(f"The cursor is none of query '{self._name}' of view '{self._view.id}'. Begin without one.")


def _columns_of(parsed: ParsedQuery, row: Record, parameters: Record | None) -> dict[Column, Callable[[Any], Any]]:
    """Checks the names and types of a query. Returns functions that convert what JSON has in a column for comparison."""
    fields = {one.name: one for one in row.fields}
    given = {one.name: one for one in parameters.fields} if parameters is not None else {}
    shapes: dict[Column, Shape] = {None: Text()}
    for column in (*(one.column for one in parsed.conditions), *parsed.order):
        if column is not None:
            if column not in fields:
                raise QueryProblem(f"the row has no field '{column}'")
            shapes[column] = _scalar_of(fields[column], written(column))
    for column, operator, name in parsed.conditions:
        if operator == "starts with" and _schema_of(shapes[column]) != {"type": "string"}:
            raise QueryProblem(f"'starts with' compares texts, and {written(column)} is none")
        if name not in given:
            raise QueryProblem(f"the query has no parameter '{name}'")
        if _schema_of(_scalar_of(given[name], f"the parameter '{name}'")) != _schema_of(shapes[column]):
            raise QueryProblem(f"the parameter '{name}' and {written(column)} have different types: both need the same type")
    unused = next((name for name in given if all(one.parameter != name for one in parsed.conditions)), None)
    if unused is not None:
        raise QueryProblem(f"the parameter '{unused}' is not used")
    # An index may have further fields, which the rows are ordered by.
    for name, field in fields.items():
        if _is_scalar(_inner(field.shape)):
            shapes[name] = _inner(field.shape)
    return {column: _conversion(shape) for column, shape in shapes.items()}


def _conversion(shape: Shape) -> Callable[[Any], Any]:
    if isinstance(shape, Text) and (shape.values is not None or shape.to_value is None):
        return lambda raw: raw
    decode = converters_of(shape)[0]
    return lambda raw: None if raw is None else decode(raw, 1)


def _inner(shape: Shape) -> Shape:
    inner = target_of(shape)
    return _inner(inner.inner) if isinstance(inner, Nullable) else inner


def _is_scalar(shape: Shape) -> bool:
    return isinstance(shape, (Boolean, Integer, Number)) or (isinstance(shape, Text) and shape.form != "base64")


def _scalar_of(field: Field, subject: str) -> Shape:
    shape = _inner(field.shape)
    if not _is_scalar(shape):
        raise QueryProblem(f"{subject} has no order: only texts, booleans, numbers, times and durations are compared")
    return shape


def _schema_of(shape: Shape) -> dict[str, Any]:
    return {name: value for name, value in Description().of(shape, "").items() if name != "description"}


def _walked_columns(parsed: ParsedQuery, indexes: list[list[str]]) -> list[Column]:
    """Returns the columns of the shortest index that serves the query, after those that are compared with `=`. Raises QueryProblem."""
    equals = [one.column for one in parsed.conditions if one.operator == "="]
    ranges = [one for one in parsed.conditions if one.operator != "="]
    _check_walk(equals, ranges, parsed.order)
    following: list[Column] = [ranges[0].column] if ranges else parsed.order
    candidates: list[list[Column]] = [[None], *([*fields, None] for fields in indexes)]
    serving = [
        one
        for one in candidates
        if set(one[: len(equals)]) == set(equals) and (not following or one[len(equals) : len(equals) + 1] == following)
    ]
    if serving:
        # The key follows where the walk is of one key alone, so that every position has it.
        return min(serving, key=len)[len(equals) :] or [None]
    needed = [one for one in (*equals, *following) if one is not None]
    if len(needed) > _INDEX_FIELDS_MAX:
        raise QueryProblem(f"it has conditions on {len(needed)} fields, and an index has at most {_INDEX_FIELDS_MAX}")
    raise QueryProblem(f"no index of the view serves it: declare the index {json.dumps(needed, ensure_ascii=False)}")


def _check_walk(equals: list[Column], ranges: list[Condition], order: list[Column]) -> None:
    """Raises QueryProblem for conditions and an order that no index serves."""
    kinds = [(one.column, one.operator[:1]) for one in ranges]
    if len(set(equals)) < len(equals) or any(one.column in equals for one in ranges):
        raise QueryProblem("a field with '=' has another condition")
    if any(one.column != ranges[0].column for one in ranges):
        raise QueryProblem(f"there are two ranges, of {written(ranges[0].column)} and of another field: a query has one")
    if len(set(kinds)) < len(kinds) or (len(ranges) > 1 and any(kind == "s" for _, kind in kinds)):
        raise QueryProblem(f"{written(ranges[0].column)} has two conditions of the same kind, or one beside 'starts with'")
    if None in equals and (ranges or order):
        raise QueryProblem("one row at most has the key: a range or an order beside it has no effect")
    if any(one in equals for one in order):
        raise QueryProblem(f"all rows that fit have the same value of {written(order[0])}: order by another field or by key")
    if ranges and order and ranges[0].column != order[0]:
        raise QueryProblem(f"the range is of {written(ranges[0].column)}, and the order is by {written(order[0])}")
