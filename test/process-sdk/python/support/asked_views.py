"""Asks the test kit for rows of views, and prints what it answers as JSON: memory-queries.test.ts asks the runtime for the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, make_dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any, Literal

from svc_process import DefinitionError, Entity, Int32, Int64, Refusal, View
from svc_process.components import Components
from svc_process.descriptor import describe
from svc_process.memory_query import MemoryQuery

Status = Literal["placed", "paid", "expired"]


@dataclass(frozen=True)
class Row:
    name: str
    status: Status
    placed_at: datetime
    cents: Int64
    price: Decimal | None
    waited: timedelta
    weight: float
    is_open: bool
    note: str | None
    key: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nothing:
    pass


start = datetime(2026, 2, 28, 12, 0, tzinfo=timezone.utc)
NAMES = ("a", "Z", "ab", "ä", "漢", "", "abc", "\U0001f389", "ﬁ")
ROWS = {
    f"k{index:02}": Row(
        name=NAMES[index % len(NAMES)],
        status=("placed", "paid", "expired")[index % 3],  # type: ignore[arg-type]
        placed_at=start + timedelta(hours=index * 7 % 10),
        cents=(2**60, -5, 9, 10, 2**53 + 1)[index % 5],
        price=(None, Decimal("2"), Decimal("12.5"), Decimal("12.50"), Decimal("-3"))[index % 5],
        waited=timedelta(minutes=index * 13 % 8),
        weight=(0.5, 10.0, 9.0, -0.0)[index % 4],
        is_open=index % 2 == 0,
        note=None if index % 4 == 0 else f"n{index % 3}",
        key=f"{index % 2}",
    )
    for index in range(30)
}

#: The text of a query, the types and values of its parameters, and the indexes of its view.
Case = tuple[str, dict[str, tuple[Any, Any]], list[list[str]]]
CASES: list[Case] = [
    ("", {}, []),
    ("order by key desc", {}, []),
    ("ORDER BY Key DESC", {}, []),
    ("key = :key", {"key": (str, "k07")}, []),
    ("key starts with :prefix", {"prefix": (str, "k1")}, []),
    ("key >= :low and key < :high order by key desc", {"low": (str, "k05"), "high": (str, "k20")}, []),
    ("name = :name", {"name": (str, "ä")}, [["name"]]),
    ("name = :name order by key desc", {"name": (str, "a")}, [["name"]]),
    ("name = :name", {"name": (str, "a")}, [["name", "cents"], ["name", "placedAt", "waited"]]),
    ("name = :name", {"name": (str, "a")}, [["name", "cents"], ["name"]]),
    ("order by name", {}, [["name"]]),
    ("order by name desc", {}, [["name", "status"]]),
    ("name starts with :prefix", {"prefix": (str, "a")}, [["name"]]),
    ("status = :status and name starts with :prefix", {"status": (Status, "paid"), "prefix": (str, "")}, [["status", "name"]]),
    ("status = :status order by placedAt desc", {"status": (Status, "paid")}, [["status", "placedAt"]]),
    ("order by status", {}, [["status"]]),
    ("placedAt >= :since and placedAt < :until", {"since": (datetime, start), "until": (datetime, start + timedelta(hours=5))}, [["placedAt"]]),
    ("cents > :least", {"least": (Int64, 9)}, [["cents"]]),
    ("order by cents", {}, [["cents"]]),
    ("price = :price", {"price": (Decimal, Decimal("12.500"))}, [["price"]]),
    ("price = :price", {"price": (Decimal | None, None)}, [["price"]]),
    ("price < :price", {"price": (Decimal | None, None)}, [["price"]]),
    ("price <= :price order by price desc", {"price": (Decimal, Decimal("12.5"))}, [["price"]]),
    ("order by price", {}, [["price"]]),
    ("order by waited desc", {}, [["waited"]]),
    ("weight >= :weight", {"weight": (float, 0.0)}, [["weight"]]),
    ("isOpen = :open and status = :status", {"open": (bool, True), "status": (Status, "paid")}, [["status", "isOpen", "price", "note"]]),
    ("note starts with :prefix order by note", {"prefix": (str, "n")}, [["note"]]),
    ("order by note desc", {}, [["note", "isOpen"]]),
    ('"key" = :key', {"key": (str, "1")}, [["key"]]),
    ('"note" = :note and key > :key', {"note": (str, "n1"), "key": (str, "k10")}, [["note"]]),
    # These are refused.
    ("name = :name", {"name": (str, "a")}, []),
    ("name = :name order by key", {"name": (str, "a")}, [["name", "cents"]]),
    ("placedAt >= :since and cents > :cents", {"since": (datetime, start), "cents": (Int64, 1)}, [["placedAt", "cents"]]),
    ("placedAt >= :since order by name", {"since": (datetime, start)}, [["placedAt"]]),
    ("name = :name order by name", {"name": (str, "a")}, [["name"]]),
    ("name >= :prefix and name starts with :prefix", {"prefix": (str, "a")}, [["name"]]),
    ("name = :name and name = :name", {"name": (str, "a")}, [["name"]]),
    ("name > :name and name >= :name", {"name": (str, "a")}, [["name"]]),
    ("name = :name and name < :name", {"name": (str, "a")}, [["name"]]),
    ("placedAt >= :since", {"since": (str, "a")}, [["placedAt"]]),
    ("cents >= :least", {"least": (Int32, 1)}, [["cents"]]),
    ("status starts with :prefix", {"prefix": (str, "a")}, [["status"]]),
    ("order by lines", {}, [["name"]]),
    ("order by nothing", {}, [["name"]]),
    ("key = :key order by name", {"key": (str, "k1")}, [["name"]]),
    ("name = :nome", {"name": (str, "a")}, [["name"]]),
    ("name = :name", {"name": (str, "a"), "other": (str, "a")}, [["name"]]),
    ("name = 'a'", {}, [["name"]]),
    ("name = : name", {"name": (str, "a")}, [["name"]]),
    ("name == :name", {"name": (str, "a")}, [["name"]]),
    ("name :name", {"name": (str, "a")}, [["name"]]),
    ("name = :name or name = :name", {"name": (str, "a")}, [["name"]]),
    ("name = :name order by key order by name", {"name": (str, "a")}, [["name"]]),
    ('"name = :name', {"name": (str, "a")}, [["name"]]),
    ('"" = :name', {"name": (str, "a")}, [["name"]]),
    ("and", {}, [["name"]]),
    ("x" * 1001, {}, [["name"]]),
]


def asked(case: Case) -> dict[str, Any]:
    """Returns the view of a case as the descriptor has it, and all pages of its query, or why it has none."""
    where, given, indexes = case
    view = View("rows", Row, version="1", indexes=indexes)
    view.fold(entity)(lambda row, event, context: context.keep())
    parameters = make_dataclass("Parameters", [(name, kind) for name, (kind, _) in given.items()], frozen=True) if given else None
    query = view.query("asked", where, parameters)
    described = describe(Components(entities=[entity], views=[view]))
    values = (parameters(**{name: value for name, (_, value) in given.items()}),) if parameters is not None else ()
    found: dict[str, Any] = {"where": where, "view": described["views"][0], "types": described["types"], "input": query.input_text(values)}
    try:
        memory = MemoryQuery(view, query)
    except DefinitionError as error:
        return {**found, "problem": str(error)}
    rows = {key: view.row.encode(row, "row") for key, row in ROWS.items()}
    pages: list[list[str]] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        texts, cursor = memory.page(rows, found["input"], 4, cursor)
        pages.append(texts)
    return {**found, "rows": rows, "pages": pages, "count": json.loads(memory.count(rows, found["input"]))}


entity = Entity("thing", Nothing, events=Nothing)
entity.apply(lambda state, event: state)


if __name__ == "__main__":
    print(json.dumps([asked(case) for case in CASES]))
