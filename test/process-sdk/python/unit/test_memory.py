"""The test kit runs commands, handlers, views and consumers in memory, and replays each entity after every command."""

from __future__ import annotations

import asyncio
import unittest
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from cart import AddItem, Item, ItemAdded, RemoveItem, add_item, cart, carts, check_out, get, remove
from orders import (
    Booked,
    ByStatus,
    Place,
    account,
    all_orders,
    amounts,
    bookkeeping,
    of_status,
    order,
    orders,
    orders_endpoint,
    pay,
    place,
)
from svc_process import CommandContext, Configuration, Context, DefinitionError, Due, Effect, Endpoint, Entity, Refusal, Response, View
from svc_process.errors import Fault
from svc_process.host_calls import RawResponse
from svc_process.testing import MemoryService, ReplayDifference


@dataclass(frozen=True)
class Total:
    count: int = 0
    #: A state that is no value of its events: the fold depends on what happened in this process.
    seen: int = field(default=0)


@dataclass(frozen=True)
class Counted:
    by: int


@dataclass(frozen=True, eq=False)
class Plain:
    count: int = 0


SEEN: list[int] = []
total = Entity("total", Total, events=Counted)


@total.apply
def apply(state: Total, event: Counted) -> Total:
    SEEN.append(event.by)
    return replace(state, count=state.count + event.by, seen=len(SEEN))


@total.command("count")
def count(_state: Total, input: int, context: CommandContext) -> Effect[None]:
    return context.persist(Counted(input)).then_reply()


@dataclass(frozen=True)
class Settings:
    fee: int = 5


@dataclass(frozen=True)
class Invoice:
    cents: int


configuration = Configuration(Settings)
reports = Endpoint("/reports")


@dataclass(frozen=True)
class Window:
    first: int
    names: tuple[str, ...] = ()
    is_open: bool | None = None


@reports.get("/orders/{limit}", answers=[201])
async def report(limit: int, query: Window, context: Context) -> Response[tuple[int, ...]]:
    page = await context.find(all_orders, limit=limit)
    row = await context.row(orders, "o1")
    counted = await context.count(all_orders)
    fee = (await context.settings(configuration)).fee
    invoice = await context.service("billing").get("/invoices/1", Invoice)
    events = await context.entity(order, "o1").events()
    assert query == Window(3, ("a", "b c"), True) and row is not None
    values = (len(page.rows), row.cents, counted.count, fee, invoice.cents, len(events))
    return Response(values, headers={"x-report": "1"})


def orders_service() -> MemoryService:
    return MemoryService(
        entities=[order, account],
        endpoints=[orders_endpoint, reports],
        views=[orders, amounts],
        consumers=[bookkeeping],
        configuration=configuration,
        settings=Settings(7),
        services={"billing": lambda *_request: RawResponse(200, [], b'{"cents":9}')},
    )


class Memory(unittest.TestCase):
    def test_a_command_is_decided_stored_and_applied(self) -> None:
        service = MemoryService(entities=[cart])
        self.assertEqual(service.call(add_item, "c1", AddItem("a", 2)).items, (Item("a", 2),))
        with self.assertRaisesRegex(Refusal, "quantity: must be positive"):
            service.call(add_item, "c1", AddItem("a", 0))
        service.call(check_out, "c1")
        self.assertEqual(service.events(cart, "c1")[0], ItemAdded("a", 2))
        self.assertTrue(service.call(get, "c1").checked_out)
        service.call(remove, "c1")
        self.assertEqual(service.state(cart, "c1").items, ())

    def test_a_handler_is_called_by_its_route(self) -> None:
        service = MemoryService(entities=[cart], endpoints=[carts])
        answer = service.request("POST", "/carts/c%201/items", body=AddItem("a", 1))
        self.assertEqual((answer.status, answer.json()["id"]), (200, "c 1"))
        self.assertEqual(service.request("POST", "/carts/c%201/check-out").status, 204)
        with self.assertRaisesRegex(Refusal, "sku: is missing; quantity: must be an integer"):
            service.request("POST", "/carts/c1/items", body={"quantity": "1"})

    def test_a_handler_that_is_not_async_waits_for_its_calls(self) -> None:
        service = orders_service()
        service.request("PUT", "/orders/o1", body=Place(12))
        self.assertEqual(service.request("GET", "/orders/o1").json(), {"status": "Placed", "cents": 12, "reminders": 0})
        service.request("PUT", "/orders/o1/reminders", body={"text": "pay"})
        self.assertEqual(service.timers[("order", "o1", "remind")].due, Due.cron("0 9 * * *", "Europe/Berlin"))
        service.fire(order, "o1", "remind")
        service.request("DELETE", "/orders/o1/reminders")
        self.assertEqual([name for _, _, name in service.timers], ["expire"])
        service.fire(order, "o1", "expire")
        self.assertEqual(service.state(order, "o1").status, "Expired")

    def test_a_handler_reaches_views_settings_services_and_events(self) -> None:
        service = orders_service()
        service.call(place, "o1", Place(12))
        service.call(place, "o2", Place(1))
        answer = service.request("GET", "/reports/orders/10?first=3&names=a&names=b+c&isOpen=true&other=%FF")
        self.assertEqual((answer.status, answer.json()), (201, [2, 12, 2, 7, 9, 1]))
        self.assertEqual(answer.headers, [("x-report", "1")])
        with self.assertRaises(Refusal) as caught:
            service.request("GET", "/reports/orders/x?first=%FF&isOpen=1")
        self.assertEqual(
            caught.exception.message,
            "path parameter 'limit': must be an integer from -9007199254740991 to 9007199254740991, found \"x\"; "
            "first: has a percent-encoding that is not UTF-8; first: is missing; isOpen: must be true or false, found \"1\"",
        )

    def test_views_are_folded_and_consumers_handle_events_once(self) -> None:
        service = orders_service()
        service.call(place, "o1", Place(12))
        service.call(pay, "o1")
        self.assertEqual([one.kind for one in service.deliver(bookkeeping)], ["done", "done"])
        self.assertEqual(service.deliver(bookkeeping), [])
        self.assertEqual(service.events(account, "main"), [Booked("o1")])
        self.assertEqual(service.rows(orders)["o1"].status, "paid")
        self.assertEqual(set(service.rows(amounts)), {"12", "all", "main"})

    def test_a_state_that_is_another_one_when_it_is_replayed_is_shown(self) -> None:
        service = MemoryService(entities=[total])
        with self.assertRaisesRegex(ReplayDifference, r"after its commands: Total\(count=1, seen=1\)\n *replayed: *Total\(count=1, seen=2\)"):
            service.call(count, "t1", 1)

    def test_states_are_compared_as_they_are_stored(self) -> None:
        plain = Entity("plain", Plain, events=Counted)
        plain.apply(lambda state, event: Plain(state.count + event.by))

        @plain.command("count")
        def counted(_state: Plain, context: CommandContext) -> Effect[None]:
            return context.persist(Counted(1)).then_reply()

        service = MemoryService(entities=[plain])
        service.call(counted, "p1")
        self.assertEqual(service.state(plain, "p1").count, 1)

    def test_a_request_within_an_event_loop_is_refused_with_what_to_do(self) -> None:
        async def ask() -> None:
            service = MemoryService(entities=[cart], endpoints=[carts])
            with self.assertRaisesRegex(RuntimeError, "await asyncio.to_thread"):
                service.request("GET", "/carts/c1")
            answer = await asyncio.to_thread(service.request, "GET", "/carts/c1")
            self.assertEqual(answer.status, 200)

        asyncio.run(ask())

    def test_an_error_of_the_code_is_a_fault(self) -> None:
        broken = Entity("broken", Total, events=Counted)
        broken.apply(lambda state, event: None)

        @broken.command("count")
        def counted(_state: Total, context: CommandContext) -> Effect[None]:
            return context.persist(Counted(1)).then_reply()

        with self.assertRaisesRegex(Fault, "it returned no Total: return the state after the event"):
            MemoryService(entities=[broken]).call(counted, "b1")


class Definitions(unittest.TestCase):
    def refused(self, words: str, define: object) -> None:
        with self.assertRaisesRegex(DefinitionError, words):
            define()  # type: ignore[operator]

    def test_a_component_that_does_not_fit_is_refused_with_what_to_do(self) -> None:
        def no_default() -> None:
            Entity("item", Item, events=Counted)

        def no_frozen_state() -> None:
            Entity("ints", tuple[int, ...], events=Counted)

        def no_effect() -> None:
            entity = Entity("total", Total, events=Counted)

            @entity.command("count")  # type: ignore[arg-type]
            def counted(state: Total, context: CommandContext) -> None:
                pass

        def no_input_type() -> None:
            entity = Entity("total", Total, events=Counted)

            @entity.command("count")
            def counted(state, input, context) -> Effect[None]:  # type: ignore[no-untyped-def]
                return context.reply()  # type: ignore[no-any-return]

        def not_at_once() -> None:
            entity = Entity("total", Total, events=Counted)

            @entity.query("count")
            async def counted(state: Total, context: CommandContext) -> int:
                return 1

        def odd_parameter() -> None:
            @Endpoint("/odd").get("/{id}")
            def handler(id: str, extra: str) -> None:
                pass

        self.refused("its empty state is not known, because 'sku' has no default", no_default)
        self.refused("it is no frozen dataclass", no_frozen_state)
        self.refused("a command returns an effect: write -> Effect", no_effect)
        self.refused("its parameter 'input' has no type", no_input_type)
        self.refused("cannot be async", not_at_once)
        self.refused("its handler has a parameter 'extra'", odd_parameter)
        self.refused("it has no apply", lambda: MemoryService(entities=[Entity("total", Total, events=Counted)]))
        self.refused("is none of this service's entities. Add it", lambda: MemoryService(views=[amounts], entities=[order]))
        self.refused("it is given twice", lambda: MemoryService(entities=[total, total]))

    def test_an_entity_of_another_service_is_not_reached(self) -> None:
        with self.assertRaisesRegex(LookupError, "none of this service's entities"):
            MemoryService(entities=[total]).call(get, "c1")
        with self.assertRaisesRegex(TypeError, "takes one input"):
            MemoryService(entities=[cart]).call(add_item, "c1")
        self.assertEqual(RemoveItem("a").sku, "a")
        self.assertEqual(Due.after(timedelta(microseconds=1)).ms, 1)

    def test_queries_find_rows_by_conditions_in_their_order_and_page_by_page(self) -> None:
        found: list[Any] = []
        finder = Endpoint("/found", access="local")

        @finder.get("/{status}")
        async def find(status: str, context: Context) -> None:
            by_status = ByStatus(status)  # type: ignore[arg-type]
            first = await context.find(of_status, by_status, limit=2)
            second = await context.find(of_status, by_status, limit=2, cursor=first.cursor)
            found.append((tuple(one.cents for one in (*first.rows, *second.rows)), second.cursor))
            found.append((await context.count(of_status, by_status)).count)
            for cursor in ("x", "[1]", '["all","o1"]'):
                with self.assertRaisesRegex(Refusal, "The cursor is none of query 'of-status' of view 'orders'"):
                    await context.find(of_status, by_status, cursor=cursor)
            with self.assertRaisesRegex(Refusal, "A page cannot have 1001 rows"):
                await context.find(of_status, by_status, limit=1_001)

        service = MemoryService(entities=[order, account], endpoints=[finder], views=[orders])
        for cents in (1, 2, 3, 4):
            service.now_ms += 1_000
            service.call(place, f"o{cents}", Place(cents))
        service.call(pay, "o2")
        service.request("GET", "/found/placed")
        self.assertEqual(found, [((4, 3, 1), None), 3])

    def test_a_query_that_the_runtime_refuses_is_refused(self) -> None:
        view = View("sorted", Invoice, version="1")
        view.query("by-cents", "order by cents")
        view.fold(order)(lambda _row, _event, context: context.keep())
        with self.assertRaisesRegex(DefinitionError, 'view \'sorted\', query \'by-cents\': no index .* declare the index \\["cents"\\]'):
            MemoryService(entities=[order, account], views=[view])


if __name__ == "__main__":
    unittest.main()
