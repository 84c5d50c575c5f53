"""Values are read strictly, with the path of each mismatch, and come back as they were written."""

from __future__ import annotations

import json
import unittest
from dataclasses import dataclass, field, make_dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional
from uuid import uuid4

from svc_process import (
    DefinitionError,
    Endpoint,
    FrozenMap,
    Int32,
    Int64,
    Length,
    Name,
    Pattern,
    PlainText,
    Range,
    UInt32,
    UInt64,
    tag,
)
from svc_process.codec import Codec
from svc_process.errors import CodecError
from svc_process.type_reader import TypeReader


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True)
class Line:
    sku: Annotated[str, Length(1, 5)]
    quantity: Int32


@dataclass(frozen=True)
class Everything:
    ordered_at: datetime
    price: Decimal
    pause: timedelta
    picture: bytes
    size: Size
    kind: Literal["a", "b"]
    ratio: Annotated[float, Range(above=0)]
    big: Int64
    tags: frozenset[str]
    counts: FrozenMap[str, int]
    lines: tuple[Line, ...]
    note: str | None
    renamed: Annotated[int, Name("other", aliases=("older",))] = 7


@dataclass(frozen=True)
class Leaf:
    value: int


@tag("branch")
@dataclass(frozen=True)
class Node:
    children: tuple[Tree, ...]


Tree = Leaf | Node


@dataclass(frozen=True)
class Chain:
    next: Chain | None = None


@dataclass(frozen=True)
class Even:
    value: int

    def __post_init__(self) -> None:
        if self.value % 2:
            raise ValueError("must be even")


@dataclass
class Loose:
    value: int


@dataclass(frozen=True)
class WithList:
    inner: tuple[dict[str, int], ...]


def codec(hint: Any) -> Codec:
    return Codec(TypeReader().shape(hint, "the type"), "the type")


EVERYTHING = Everything(
    datetime(2026, 2, 28, 12, 30, 0, 250_000, timezone.utc),
    Decimal("12.50"),
    timedelta(days=1, hours=2, milliseconds=5),
    b"\x00\xff",
    Size.LARGE,
    "b",
    1.5,
    2**60,
    frozenset(("x", "a")),
    FrozenMap({"ä 漢 🎉": 1}),
    (Line("s", 1),),
    None,
)


class Codecs(unittest.TestCase):
    def refused(self, hint: Any, text: str) -> str:
        with self.assertRaises(CodecError) as caught:
            codec(hint).decode(text, "input")
        return str(caught.exception)

    def test_every_type_comes_back_as_it_was_written(self) -> None:
        one = codec(Everything)
        text = one.encode(EVERYTHING, "value")
        self.assertEqual(one.decode(text, "value"), EVERYTHING)
        self.assertEqual(
            json.loads(text),
            {
                "orderedAt": "2026-02-28T12:30:00.250Z",
                "price": "12.50",
                "pause": "P1DT2H0.005S",
                "picture": "AP8=",
                "size": "large",
                "kind": "b",
                "ratio": 1.5,
                "big": str(2**60),
                "tags": ["a", "x"],
                "counts": {"ä 漢 🎉": 1},
                "lines": [{"sku": "s", "quantity": 1}],
                "note": None,
                "other": 7,
            },
        )

    def test_all_mismatches_are_named_with_their_paths(self) -> None:
        text = self.refused(tuple[Line, ...], '[{"sku":"a","quantity":1},{"sku":1},{"sku":"toolong","quantity":2.5}]')
        self.assertEqual(
            text,
            "[1].sku: must be a string, found 1; [1].quantity: is missing; [2].sku: must have 1 to 5 characters, found 7; "
            "[2].quantity: must be an integer from -2147483648 to 2147483647, found 2.5",
        )

    def test_the_number_of_mismatches_is_bounded(self) -> None:
        text = self.refused(tuple[int, ...], json.dumps(["x"] * 1000))
        self.assertEqual(text.count("must be"), 20)
        self.assertTrue(text.endswith("and perhaps more"))

    def test_integers_are_exact(self) -> None:
        self.assertEqual(codec(int).decode("2.0", "x"), 2)
        self.assertEqual(codec(Int64).decode('"9223372036854775807"', "x"), 2**63 - 1)
        self.assertEqual(codec(UInt64).encode(2**64 - 1, "x"), '"18446744073709551615"')
        for hint, text in ((int, "true"), (int, str(2**53)), (Int64, str(2**53)), (Int64, '"01"'), (UInt64, '"-1"')):
            self.refused(hint, text)

    def test_texts_are_unicode(self) -> None:
        self.assertEqual(codec(str).decode('"\\ud83c\\udf89"', "x"), "🎉")
        self.assertIn("half of a surrogate pair", self.refused(str, '"\\ud83c"'))
        self.assertEqual(codec(str).encode("\ud83c", "x"), '"\ufffd"')

    def test_what_is_no_json_is_refused(self) -> None:
        for text in ("", "{", "NaN", "[1,]", "Infinity", "[" * 100_000):
            self.refused(tuple[float, ...], text)
        self.assertIn("nested too deep", self.refused(Chain, '{"next":' * 150 + "null" + "}" * 150))

    def test_aliases_are_read_and_twice_is_refused(self) -> None:
        one = codec(Everything)
        value = json.loads(one.encode(EVERYTHING, "value"))
        del value["other"]
        self.assertEqual(one.decode_value({**value, "older": 9}, "x").renamed, 9)
        self.assertEqual(one.decode_value(value, "x").renamed, 7)
        with self.assertRaisesRegex(CodecError, "is given twice"):
            one.decode_value({**value, "older": 9, "other": 9}, "x")

    def test_a_type_may_contain_itself(self) -> None:
        one = codec(Tree)
        tree = Node((Leaf(1), Node(())))
        text = one.encode(tree, "x")
        self.assertEqual(text, '{"type":"branch","children":[{"type":"leaf","value":1},{"type":"branch","children":[]}]}')
        self.assertEqual(one.decode(text, "x"), tree)
        self.assertEqual(codec(Chain).decode('{"next":{}}', "x"), Chain(Chain()))

    def test_a_case_that_does_not_exist_is_named(self) -> None:
        self.assertEqual(self.refused(Tree, '{"type":"bush"}'), 'type: must be "leaf" or "branch", found "bush"')
        self.assertEqual(self.refused(Tree, "{}"), "type: is missing")

    def test_the_checks_of_a_class_refuse_its_values(self) -> None:
        self.assertEqual(codec(Even).decode('{"value":2}', "x"), Even(2))
        self.assertEqual(self.refused(tuple[Even, ...], '[{"value":1}]'), "[0]: must be even")

    def test_a_value_of_another_type_is_not_written(self) -> None:
        for hint, value in ((Line, EVERYTHING), (tuple[int, ...], [1]), (FrozenMap[str, int], {"a": 1}), (int, True), (float, "1")):
            with self.assertRaises(CodecError):
                codec(hint).encode(value, "x")

    def test_numbers_are_written_as_in_other_languages(self) -> None:
        self.assertEqual([codec(float).encode(one, "x") for one in (1.0, 0.1, -0.0, 3)], ["1", "0.1", "0", "3"])
        for value in (float("nan"), float("inf")):
            with self.assertRaises(CodecError):
                codec(float).encode(value, "x")


class Types(unittest.TestCase):
    def test_what_can_be_changed_in_place_is_refused_with_its_path(self) -> None:
        for hint, words in (
            (WithList, r"the type.inner\[\]: a dict can be changed in place"),
            (Loose, "Loose can be changed in place: write @dataclass\\(frozen=True\\)"),
            (tuple[list[int], ...], r"the type\[\]: a list can be changed in place: use tuple"),
            (set[str], "a set can be changed in place: use frozenset"),
        ):
            with self.assertRaisesRegex(DefinitionError, words):
                codec(hint)

    def test_a_type_without_a_json_form_is_refused(self) -> None:
        for hint in (Any, object, tuple[int, str], FrozenMap[int, int], Literal[1], int | str):
            with self.assertRaises(DefinitionError):
                codec(hint)

    def test_a_pattern_is_searched(self) -> None:
        one = codec(Annotated[str, Pattern("^[a-z]+$")])
        self.assertEqual(one.decode('"abc"', "x"), "abc")
        with self.assertRaisesRegex(CodecError, "text like"):
            one.decode('"A"', "x")

    def test_a_default_that_differs_each_time_is_refused(self) -> None:
        for factory in (lambda: str(uuid4()), lambda: datetime.now(timezone.utc)):
            one = make_dataclass("One", [("made", object, field(default_factory=factory))], frozen=True)
            one.__annotations__["made"] = type(factory())
            with self.assertRaisesRegex(DefinitionError, "the type.made: its default_factory makes another value each time"):
                codec(one)
        two = make_dataclass("Two", [("made", FrozenMap[str, int], field(default_factory=FrozenMap))], frozen=True)
        self.assertEqual(codec(two).decode("{}", "x").made, FrozenMap())

    def test_rules_hold_within_a_type_that_may_be_null(self) -> None:
        for hint, text in (
            (Annotated[int | None, Range(min=1, max=5)], "-9"),
            (Annotated[int, Range(min=1, max=5)] | None, "-9"),
            (Annotated[float | None, Range(above=0)], "0"),
            (Annotated[tuple[int, ...] | None, Length(max=1)], "[1,2,3]"),
            (Annotated[str | None, Pattern("^a$")], '"b"'),
        ):
            one = codec(hint)
            self.assertIsNone(one.decode("null", "x"))
            with self.assertRaises(CodecError):
                one.decode(text, "x")

    def test_of_several_rules_the_narrowest_bounds_hold(self) -> None:
        one = codec(Annotated[UInt32, Range(max=10)])
        self.assertEqual([one.decode(text, "x") for text in ("0", "10")], [0, 10])
        for text in ("-1", "11"):
            with self.assertRaises(CodecError):
                one.decode(text, "x")

    def test_a_rule_that_would_not_be_checked_is_refused(self) -> None:
        for hint, words in (
            (Annotated[int, Range(above=0)], "the type: the range of an integer has whole numbers as min and max, and no above"),
            (Annotated[int, Range(below=9)], "no above or below"),
            (Annotated[int, Range(min=0.5)], "whole numbers"),
            (Annotated[int, Range(max=float("inf"))], "whole numbers"),
            (Annotated[Decimal, Range(min=0)], "the type: Range is no rule of the type Decimal"),
            (Annotated[FrozenMap[str, int], Length(max=1)], "Length is no rule of the type FrozenMap"),
            (Annotated[str, Range(min=1)], "Range is no rule of the type str"),
            (Annotated[int | None, Length(1)], "Length is no rule of the type int"),
            (Annotated[Line, Pattern("a")], "Pattern is no rule of the type Line"),
            (Annotated[Leaf | Node | None, Length(1)], "Length is no rule"),
            (Annotated[str, Pattern("a"), Pattern("b")], "it has two patterns"),
        ):
            with self.assertRaisesRegex(DefinitionError, words):
                codec(hint)
        with self.assertRaisesRegex(DefinitionError, "a PlainText has no rules"):

            @Endpoint("/notes").post("/")
            def note(body: Annotated[PlainText, Length(max=5)]) -> None:
                pass

    def test_a_name_within_a_type_that_may_be_null_is_the_name_of_its_field(self) -> None:
        for hint in (
            Annotated[str, Name("givenName", aliases=("n",))] | None,
            Optional[Annotated[str, Length(1), Name("givenName", aliases=("n",))]],
            Annotated[str | None, Name("givenName", aliases=("n",))],
        ):
            one = codec(make_dataclass("One", [("name", hint, None)], frozen=True))
            self.assertEqual([one.decode(text, "x").name for text in ('{"givenName":"a"}', '{"n":"b"}', '{"name":"c"}')], ["a", "b", None])
            self.assertEqual(one.encode(one.decode('{"n":"b"}', "x"), "x"), '{"givenName":"b"}')

    def test_a_name_that_no_field_would_have_is_refused(self) -> None:
        named = Annotated[str, Name("a")]
        for hint, words in (
            (tuple[named, ...], r"the type.name\[\]: Name\(...\) is for the type of a field"),
            (FrozenMap[str, named], "is for the type of a field"),
            (tuple[named | None, ...], "is for the type of a field"),
            (Annotated[Leaf, Name("a")] | Chain, "is no frozen dataclass, as a case of a union has to be"),
            (Annotated[named | None, Name("b")], "the type.name: it has two names: write one Name"),
        ):
            with self.assertRaisesRegex(DefinitionError, words):
                codec(make_dataclass("One", [("name", hint)], frozen=True))
        with self.assertRaisesRegex(DefinitionError, "parameter 'id': Name"):

            @Endpoint("/notes").get("/{id}")
            def note(id: Annotated[str, Name("number")]) -> None:
                pass


if __name__ == "__main__":
    unittest.main()
