"""QueryText parses the text of a view's query, such as `customer = :customer and placedAt >= :since order by placedAt desc`.

Parsing knows no view. The language is that of docs/reference/view-queries.md.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

#: A column: the name of a field in JSON, or None, which is the key of the row.
Column = str | None

_LENGTH_MAX: Final = 1_000
_COMPARISONS: Final = ("=", "<", "<=", ">", ">=")
_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<colon>:)?(?:"(?P<quoted>(?:[^"\x00-\x1f\x7f-\x9f]|"")+)"|(?P<name>(?:[^\W\d]|\$)(?:\w|[$\u200c\u200d])*))
        |(?P<operator>[<>=!]+)
        |(?P<other>\S)
        |(?P<end>\Z)
    )""",
    re.VERBOSE,
)


class QueryProblem(Exception):
    """Reports a text that is no query, or a query that cannot run."""


class Condition(NamedTuple):
    """A comparison of a column with a parameter."""

    column: Column
    #: `=`, `<`, `<=`, `>`, `>=` or `starts with`.
    operator: str
    parameter: str


class ParsedQuery(NamedTuple):
    """The parts of a query. `order`: the column that it is ordered by, in a list that is empty without an order."""

    conditions: list[Condition]
    order: list[Column]
    is_descending: bool


class _Token(NamedTuple):
    """A token. `kind`: name, quoted, parameter, operator, other or end."""

    kind: str
    text: str

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f"'{':' if self.kind == 'parameter' else ''}{self.text[:200]}'"


def parse_query(text: str) -> ParsedQuery:
    """Parses the text of a query; an empty one, and an order alone, stand for all rows. Raises QueryProblem."""
    if len(text) > _LENGTH_MAX:
        raise QueryProblem(f"the query has more than {_LENGTH_MAX} characters")
    return _Parser(_tokens(text)).query()


def written(column: Column) -> str:
    """Names a column in a message."""
    return "the key" if column is None else f"the field '{column}'"


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while not found or found[-1].kind != "end":
        match = _TOKEN.match(text, at)
        assert match is not None
        at = match.end()
        quoted, name, operator = match["quoted"], match["name"], match["operator"]
        if match["colon"]:
            found.append(_Token("parameter", name or quoted.replace('""', '"')))
        elif quoted is not None:
            found.append(_Token("quoted", quoted.replace('""', '"')))
        elif name is not None:
            found.append(_Token("name", name))
        elif operator is not None:
            found.append(_Token("operator" if operator in _COMPARISONS else "other", operator))
        else:
            found.append(_Token("end" if match["end"] is not None else "other", match["other"] or ""))
    return found


class _Parser:
    """Reads tokens in their order. The last one is the end."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def query(self) -> ParsedQuery:
        conditions: list[Condition] = []
        order: list[Column] = []
        if not self._is_next("order", "by") and self._token.kind != "end":
            conditions.append(self._condition())
            while self._took("and"):
                conditions.append(self._condition())
        is_descending = False
        if self._took("order", "by"):
            order.append(self._column("the name of a field or 'key' after 'order by'"))
            is_descending = self._took("desc")
            if not is_descending:
                self._took("asc")
        if self._token.kind != "end":
            self._expected("the end of the query" if order else "'and' or 'order by'")
        return ParsedQuery(conditions, order, is_descending)

    def _condition(self) -> Condition:
        column = self._column("the name of a field or 'key'")
        if self._took("starts", "with"):
            operator = "starts with"
        elif self._token.kind == "operator":
            operator = self._taken().text
        else:
            self._expected("=, <, <=, >, >= or 'starts with'")
        if self._token.kind != "parameter":
            self._expected(f"a parameter such as :{column or 'key'} after '{operator}'")
        return Condition(column, operator, self._taken().text)

    def _column(self, wanted: str) -> Column:
        if self._token.kind not in ("name", "quoted"):
            self._expected(wanted)
        kind, text = self._taken()
        return None if kind == "name" and text == "key" else text

    @property
    def _token(self) -> _Token:
        return self._tokens[self._at]

    def _taken(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _is_next(self, *words: str) -> bool:
        following = self._tokens[self._at : self._at + len(words)]
        return [(one.kind, one.text.lower()) for one in following] == [("name", word) for word in words]

    def _took(self, *words: str) -> bool:
        """Takes the words if they are next."""
        is_next = self._is_next(*words)
        self._at += len(words) if is_next else 0
        return is_next

    def _expected(self, wanted: str) -> NoReturn:
        raise QueryProblem(f"expected {wanted}, and found {self._token.shown}")
