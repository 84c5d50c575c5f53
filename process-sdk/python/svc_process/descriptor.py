"""Descriptor: the module descriptor of the components. The runtime checks it as that of a module."""

from __future__ import annotations

from typing import Any, Final

from .components import Components, Schedule
from .consumer import Consumer
from .description import Description, is_scalar_default
from .bearer import bearer_rule
from .cors import cors_rule
from .declared import declared_rules
from .endpoint import BodyType, Endpoint, Route, access_rule
from .entity import Entity
from .codec import Codec
from .shape import REQUIRED, record_of
from .shape_codec import converters_of
from .version import VERSION
from .view import View

#: Version of the contract between runtime and module.
_PROTOCOL: Final = "0.2.0"

Json = dict[str, Any]


def describe(components: Components) -> Json:
    """Returns the descriptor."""
    types = Description()
    described: Json = {
        "protocol": _PROTOCOL,
        "sdk": {"name": "svc-process", "version": VERSION},
        "types": types.types,
        "entities": [_entity(one, types) for one in components.entities.values()],
        "endpoints": [_endpoint(one, types) for one in components.endpoints],
    }
    if components.views:
        described["views"] = [_view(one, types) for one in components.views.values()]
    if components.consumers:
        described["consumers"] = [_consumer(one) for one in components.consumers.values()]
    if components.schedules:
        described["schedules"] = [_schedule(one) for one in components.schedules]
    if components.configuration is not None:
        described["configuration"] = _configuration(components.configuration, types)
    return described


def _entity(entity: Entity[Any], types: Description) -> Json:
    def stored(manifest: str, codec: Codec) -> Json:
        return {"manifest": manifest, "schema": types.of(codec.shape, manifest)}

    def handlers(kind: str) -> list[Json]:
        return [
            {
                "name": one.name,
                **({} if one.input is None else {"input": types.of(one.input.shape, f"{one.name}.input")}),
                "reply": {"type": "null"} if one.reply is None else types.of(one.reply.shape, f"{one.name}.reply"),
            }
            for one in entity.handlers.values()
            if one.kind == kind
        ]

    return {
        "component": entity.component,
        "state": stored(entity.state_manifest, entity.state),
        "event": stored(entity.event_manifest, entity.event),
        "commands": handlers("command"),
        "queries": handlers("query"),
    }


def _endpoint(endpoint: Endpoint, types: Description) -> Json:
    bearer: Json = {} if endpoint.bearer is None else {"bearer": bearer_rule(endpoint.bearer)}
    cors: Json = {} if endpoint.cors is None else {"cors": cors_rule(endpoint.cors)}
    return {
        "name": endpoint.name,
        "prefix": endpoint.prefix,
        "access": access_rule(endpoint.access),
        **bearer,
        **cors,
        "routes": [_route(one, types) for one in endpoint.routes],
    }


def _route(route: Route, types: Description) -> Json:
    def content(body: BodyType) -> Json:
        if body.codec is None:
            return {"kind": body.kind}
        return {"kind": body.kind, "schema": types.of(body.codec.shape, route.name)}

    query = [] if route.query is None else _query(route.query, route.name, types)
    described: Json = {
        "method": route.method,
        "path": route.path,
        "handler": route.name,
        "parameters": [{"name": name, "schema": types.of(codec.shape, name)} for name, codec in route.parameters],
    }
    if query:
        described["query"] = query
    if route.body is not None:
        described["body"] = {**content(route.body), **({"optional": True} if route.body.is_optional else {})}
    if route.reply is not None:
        described["reply"] = content(route.reply)
    if route.answers is not None:
        described["answers"] = list(route.answers)
    described.update(declared_rules(route.declared))
    if route.summary is not None:
        described["summary"] = route.summary
    if route.description is not None:
        described["description"] = route.description
    if route.access is not None:
        described["access"] = access_rule(route.access)
    if route.bearer is not None:
        described["bearer"] = bearer_rule(route.bearer)
    if route.cors is not None:
        described["cors"] = cors_rule(route.cors)
    return described


def _query(codec: Codec, name: str, types: Description) -> list[Json]:
    record = record_of(codec.shape)
    assert record is not None
    found: list[Json] = []
    for field in record.fields:
        schema = types.of(field.shape, f"{name}.{field.name}")
        described = {"name": field.name, "schema": schema, "required": field.default is REQUIRED}
        default = _default_of(field)
        if is_scalar_default(default, schema):
            described["default"] = default
        found.append(described)
    return found


def _default_of(field: Any) -> Any:
    return converters_of(field.shape)[1](field.default, 100) if field.has_default else None


def _view(view: View[Any], types: Description) -> Json:
    return {
        "id": view.id,
        "sources": list(view.sources),
        "row": types.of(view.row.shape, f"{view.id}.row"),
        **({"computesKeys": True} if view.computes_keys else {}),
        "definition": view.version,
        "indexes": view.indexes,
        "queries": [
            {
                "name": one.name,
                "where": one.where,
                **({} if one.parameters is None else {"parameters": types.of(one.parameters.shape, f"{view.id}.{one.name}")}),
            }
            for one in view.queries.values()
        ],
    }


def _consumer(consumer: Consumer) -> Json:
    return {"id": consumer.id, "sources": list(consumer.sources), "start": consumer.start}


def _schedule(schedule: Schedule) -> Json:
    call, due = schedule.call, schedule.due
    when = {"kind": "every", "everyMs": due.ms}
    if due.kind == "cron":
        when = {"kind": "cron", "expression": due.expression, "zone": due.zone}
    return {
        "id": schedule.id,
        "target": {"component": call.component, "id": call.id},
        "command": call.command,
        **({} if call.input == "null" else {"input": call.input}),
        "due": when,
    }


def _configuration(configuration: Any, types: Description) -> Json:
    schema = types.of(configuration.codec.shape, "configuration")
    record = record_of(configuration.codec.shape)
    assert record is not None
    defaults = {
        field.name: _default_of(field)
        for field in record.fields
        if is_scalar_default(_default_of(field), types.of(field.shape, f"configuration.{field.name}"))
    }
    return {
        "schema": schema,
        **({} if not defaults else {"defaults": defaults}),
        **({} if not configuration.secrets else {"secrets": configuration.secrets}),
    }
