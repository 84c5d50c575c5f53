from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Apply(_message.Message):
    __slots__ = ["events"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[StoredEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[StoredEvent, _Mapping]]] = ...) -> None: ...

class Body(_message.Message):
    __slots__ = ["bytes", "json", "text"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    bytes: bytes
    json: str
    text: str
    def __init__(self, json: _Optional[str] = ..., text: _Optional[str] = ..., bytes: _Optional[bytes] = ...) -> None: ...

class Cancel(_message.Message):
    __slots__ = ["reason"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class CancelTimer(_message.Message):
    __slots__ = ["component", "id", "name"]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    component: str
    id: str
    name: str
    def __init__(self, component: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class CloseEntity(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Command(_message.Message):
    __slots__ = ["context", "input", "name"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    context: Context
    input: str
    name: str
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ..., name: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class Consume(_message.Message):
    __slots__ = ["consumer", "context", "event"]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    consumer: str
    context: Context
    event: EntityEvent
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ..., consumer: _Optional[str] = ..., event: _Optional[_Union[EntityEvent, _Mapping]] = ...) -> None: ...

class Context(_message.Message):
    __slots__ = ["metadata", "now_ms", "seed_high", "seed_low"]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    SEED_HIGH_FIELD_NUMBER: _ClassVar[int]
    SEED_LOW_FIELD_NUMBER: _ClassVar[int]
    metadata: _containers.RepeatedCompositeFieldContainer[Metadata]
    now_ms: int
    seed_high: int
    seed_low: int
    def __init__(self, now_ms: _Optional[int] = ..., seed_high: _Optional[int] = ..., seed_low: _Optional[int] = ..., metadata: _Optional[_Iterable[_Union[Metadata, _Mapping]]] = ...) -> None: ...

class Credit(_message.Message):
    __slots__ = ["bytes"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    def __init__(self, bytes: _Optional[int] = ...) -> None: ...

class Cron(_message.Message):
    __slots__ = ["expression", "zone"]
    EXPRESSION_FIELD_NUMBER: _ClassVar[int]
    ZONE_FIELD_NUMBER: _ClassVar[int]
    expression: str
    zone: str
    def __init__(self, expression: _Optional[str] = ..., zone: _Optional[str] = ...) -> None: ...

class Done(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Effect(_message.Message):
    __slots__ = ["deletes_entity", "events", "problem", "replies_after", "reply", "timers"]
    DELETES_ENTITY_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    REPLIES_AFTER_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    TIMERS_FIELD_NUMBER: _ClassVar[int]
    deletes_entity: bool
    events: _containers.RepeatedCompositeFieldContainer[StoredEvent]
    problem: str
    replies_after: bool
    reply: str
    timers: _containers.RepeatedCompositeFieldContainer[TimerChange]
    def __init__(self, events: _Optional[_Iterable[_Union[StoredEvent, _Mapping]]] = ..., deletes_entity: bool = ..., reply: _Optional[str] = ..., replies_after: bool = ..., timers: _Optional[_Iterable[_Union[TimerChange, _Mapping]]] = ..., problem: _Optional[str] = ...) -> None: ...

class EntityCall(_message.Message):
    __slots__ = ["component", "id", "idempotency_key", "input", "metadata", "name"]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    component: str
    id: str
    idempotency_key: str
    input: str
    metadata: _containers.RepeatedCompositeFieldContainer[Metadata]
    name: str
    def __init__(self, component: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., input: _Optional[str] = ..., metadata: _Optional[_Iterable[_Union[Metadata, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class EntityEvent(_message.Message):
    __slots__ = ["component", "event", "id", "seq", "time_ms"]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    component: str
    event: StoredEvent
    id: str
    seq: int
    time_ms: int
    def __init__(self, component: _Optional[str] = ..., id: _Optional[str] = ..., seq: _Optional[int] = ..., time_ms: _Optional[int] = ..., event: _Optional[_Union[StoredEvent, _Mapping]] = ...) -> None: ...

class Events(_message.Message):
    __slots__ = ["events"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[RecordedEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[RecordedEvent, _Mapping]]] = ...) -> None: ...

class Failed(_message.Message):
    __slots__ = ["code", "text", "word"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WORD_FIELD_NUMBER: _ClassVar[int]
    code: str
    text: str
    word: str
    def __init__(self, word: _Optional[str] = ..., text: _Optional[str] = ..., code: _Optional[str] = ...) -> None: ...

class Fault(_message.Message):
    __slots__ = ["cause", "message", "stack"]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    cause: str
    message: str
    stack: str
    def __init__(self, cause: _Optional[str] = ..., message: _Optional[str] = ..., stack: _Optional[str] = ...) -> None: ...

class Find(_message.Message):
    __slots__ = ["cursor", "input", "limit", "query", "view"]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    cursor: str
    input: str
    limit: int
    query: str
    view: str
    def __init__(self, view: _Optional[str] = ..., query: _Optional[str] = ..., input: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class FromProcess(_message.Message):
    __slots__ = ["frames"]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[FromProcessFrame]
    def __init__(self, frames: _Optional[_Iterable[_Union[FromProcessFrame, _Mapping]]] = ...) -> None: ...

class FromProcessFrame(_message.Message):
    __slots__ = ["call", "credit", "done", "effect", "fault", "host_call", "keys", "log", "passed", "pong", "problem", "refusal", "rejected", "reply", "response", "rows", "state", "verdict", "welcome"]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    HOST_CALL_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    call: int
    credit: Credit
    done: Done
    effect: Effect
    fault: Fault
    host_call: HostCall
    keys: Keys
    log: Log
    passed: Passed
    pong: Pong
    problem: Problem
    refusal: Refusal
    rejected: Rejected
    reply: Reply
    response: Response
    rows: Rows
    state: State
    verdict: Verdict
    welcome: Welcome
    def __init__(self, call: _Optional[int] = ..., welcome: _Optional[_Union[Welcome, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., problem: _Optional[_Union[Problem, _Mapping]] = ..., effect: _Optional[_Union[Effect, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ..., fault: _Optional[_Union[Fault, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ..., response: _Optional[_Union[Response, _Mapping]] = ..., verdict: _Optional[_Union[Verdict, _Mapping]] = ..., keys: _Optional[_Union[Keys, _Mapping]] = ..., rows: _Optional[_Union[Rows, _Mapping]] = ..., passed: _Optional[_Union[Passed, _Mapping]] = ..., host_call: _Optional[_Union[HostCall, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., pong: _Optional[_Union[Pong, _Mapping]] = ..., credit: _Optional[_Union[Credit, _Mapping]] = ..., rejected: _Optional[_Union[Rejected, _Mapping]] = ...) -> None: ...

class Handle(_message.Message):
    __slots__ = ["body", "caller", "context", "headers", "parameters", "query", "route"]
    BODY_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    body: Body
    caller: str
    context: Context
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    parameters: _containers.RepeatedScalarFieldContainer[str]
    query: str
    route: int
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ..., route: _Optional[int] = ..., parameters: _Optional[_Iterable[str]] = ..., query: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., caller: _Optional[str] = ..., body: _Optional[_Union[Body, _Mapping]] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ["developing", "ping_ms", "service", "shard", "shards", "versions", "window"]
    DEVELOPING_FIELD_NUMBER: _ClassVar[int]
    PING_MS_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    developing: bool
    ping_ms: int
    service: str
    shard: int
    shards: int
    versions: _containers.RepeatedScalarFieldContainer[int]
    window: Window
    def __init__(self, versions: _Optional[_Iterable[int]] = ..., service: _Optional[str] = ..., shard: _Optional[int] = ..., shards: _Optional[int] = ..., window: _Optional[_Union[Window, _Mapping]] = ..., ping_ms: _Optional[int] = ..., developing: bool = ...) -> None: ...

class HostCall(_message.Message):
    __slots__ = ["cancel_timer", "entity", "find", "number", "read_events", "request", "scope_keys", "set_timer"]
    CANCEL_TIMER_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    FIND_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    READ_EVENTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    SCOPE_KEYS_FIELD_NUMBER: _ClassVar[int]
    SET_TIMER_FIELD_NUMBER: _ClassVar[int]
    cancel_timer: CancelTimer
    entity: EntityCall
    find: Find
    number: int
    read_events: ReadEvents
    request: ServiceRequest
    scope_keys: ScopeKeys
    set_timer: Timer
    def __init__(self, number: _Optional[int] = ..., entity: _Optional[_Union[EntityCall, _Mapping]] = ..., read_events: _Optional[_Union[ReadEvents, _Mapping]] = ..., set_timer: _Optional[_Union[Timer, _Mapping]] = ..., cancel_timer: _Optional[_Union[CancelTimer, _Mapping]] = ..., request: _Optional[_Union[ServiceRequest, _Mapping]] = ..., find: _Optional[_Union[Find, _Mapping]] = ..., scope_keys: _Optional[_Union[ScopeKeys, _Mapping]] = ...) -> None: ...

class HostResult(_message.Message):
    __slots__ = ["done", "events", "failed", "now_ms", "number", "page", "refusal", "reply", "response"]
    DONE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    NOW_MS_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    done: Done
    events: Events
    failed: Failed
    now_ms: int
    number: int
    page: Page
    refusal: Refusal
    reply: Reply
    response: ServiceResponse
    def __init__(self, number: _Optional[int] = ..., now_ms: _Optional[int] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ..., failed: _Optional[_Union[Failed, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., events: _Optional[_Union[Events, _Mapping]] = ..., response: _Optional[_Union[ServiceResponse, _Mapping]] = ..., page: _Optional[_Union[Page, _Mapping]] = ...) -> None: ...

class Keep(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class KeyList(_message.Message):
    __slots__ = ["keys"]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, keys: _Optional[_Iterable[str]] = ...) -> None: ...

class KeyedEvent(_message.Message):
    __slots__ = ["event", "rows"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    event: EntityEvent
    rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, event: _Optional[_Union[EntityEvent, _Mapping]] = ..., rows: _Optional[_Iterable[int]] = ...) -> None: ...

class Keys(_message.Message):
    __slots__ = ["events"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[KeyList]
    def __init__(self, events: _Optional[_Iterable[_Union[KeyList, _Mapping]]] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ["level", "message", "source"]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    level: str
    message: str
    source: str
    def __init__(self, level: _Optional[str] = ..., message: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class Metadata(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class OpenEntity(_message.Message):
    __slots__ = ["alone", "component", "id", "snapshot"]
    ALONE_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    alone: bool
    component: str
    id: str
    snapshot: str
    def __init__(self, component: _Optional[str] = ..., id: _Optional[str] = ..., snapshot: _Optional[str] = ..., alone: bool = ...) -> None: ...

class Page(_message.Message):
    __slots__ = ["as_of_ms", "cursor", "rows"]
    AS_OF_MS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    as_of_ms: int
    cursor: str
    rows: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, rows: _Optional[_Iterable[str]] = ..., cursor: _Optional[str] = ..., as_of_ms: _Optional[int] = ...) -> None: ...

class Passed(_message.Message):
    __slots__ = ["number"]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ["number"]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Pong(_message.Message):
    __slots__ = ["number"]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ["message"]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: str
    def __init__(self, message: _Optional[str] = ...) -> None: ...

class Query(_message.Message):
    __slots__ = ["context", "input", "name"]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    context: Context
    input: str
    name: str
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ..., name: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class ReadEvents(_message.Message):
    __slots__ = ["after_seq", "component", "id", "limit"]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    after_seq: int
    component: str
    id: str
    limit: int
    def __init__(self, component: _Optional[str] = ..., id: _Optional[str] = ..., after_seq: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class RecordedEvent(_message.Message):
    __slots__ = ["event", "seq", "time_ms"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    event: StoredEvent
    seq: int
    time_ms: int
    def __init__(self, seq: _Optional[int] = ..., time_ms: _Optional[int] = ..., event: _Optional[_Union[StoredEvent, _Mapping]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ["code", "details", "message", "other_code"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OTHER_CODE_FIELD_NUMBER: _ClassVar[int]
    code: str
    details: str
    message: str
    other_code: str
    def __init__(self, code: _Optional[str] = ..., other_code: _Optional[str] = ..., message: _Optional[str] = ..., details: _Optional[str] = ...) -> None: ...

class Rejected(_message.Message):
    __slots__ = ["reason"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ["json"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ["body", "headers", "status"]
    BODY_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    body: Body
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    status: int
    def __init__(self, status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., body: _Optional[_Union[Body, _Mapping]] = ...) -> None: ...

class Retry(_message.Message):
    __slots__ = ["after_ms", "reason"]
    AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    after_ms: int
    reason: str
    def __init__(self, reason: _Optional[str] = ..., after_ms: _Optional[int] = ...) -> None: ...

class Row(_message.Message):
    __slots__ = ["json", "key"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    json: str
    key: str
    def __init__(self, key: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class Rows(_message.Message):
    __slots__ = ["rows"]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[Row]
    def __init__(self, rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ...) -> None: ...

class ScopeKeys(_message.Message):
    __slots__ = ["scope"]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    scope: str
    def __init__(self, scope: _Optional[str] = ...) -> None: ...

class ServiceRequest(_message.Message):
    __slots__ = ["body", "headers", "method", "path", "service"]
    BODY_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    method: str
    path: str
    service: str
    def __init__(self, service: _Optional[str] = ..., method: _Optional[str] = ..., path: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., body: _Optional[bytes] = ...) -> None: ...

class ServiceResponse(_message.Message):
    __slots__ = ["body", "headers", "status"]
    BODY_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    status: int
    def __init__(self, status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., body: _Optional[bytes] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ["json"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class StoredEvent(_message.Message):
    __slots__ = ["json", "manifest"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    json: str
    manifest: str
    def __init__(self, manifest: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class TakeSnapshot(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Timer(_message.Message):
    __slots__ = ["after_ms", "at_ms", "attempts", "command", "component", "cron", "every_ms", "id", "input", "name"]
    AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    CRON_FIELD_NUMBER: _ClassVar[int]
    EVERY_MS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    after_ms: int
    at_ms: int
    attempts: int
    command: str
    component: str
    cron: Cron
    every_ms: int
    id: str
    input: str
    name: str
    def __init__(self, name: _Optional[str] = ..., component: _Optional[str] = ..., id: _Optional[str] = ..., command: _Optional[str] = ..., input: _Optional[str] = ..., at_ms: _Optional[int] = ..., after_ms: _Optional[int] = ..., every_ms: _Optional[int] = ..., cron: _Optional[_Union[Cron, _Mapping]] = ..., attempts: _Optional[int] = ...) -> None: ...

class TimerChange(_message.Message):
    __slots__ = ["cancel", "set"]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    cancel: str
    set: Timer
    def __init__(self, set: _Optional[_Union[Timer, _Mapping]] = ..., cancel: _Optional[str] = ...) -> None: ...

class ToProcess(_message.Message):
    __slots__ = ["frames"]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[ToProcessFrame]
    def __init__(self, frames: _Optional[_Iterable[_Union[ToProcessFrame, _Mapping]]] = ...) -> None: ...

class ToProcessFrame(_message.Message):
    __slots__ = ["apply", "call", "cancel", "close", "command", "consume", "credit", "entity", "handle", "hello", "keep", "open", "ping", "query", "result", "snapshot", "view_fold", "view_keys"]
    APPLY_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CONSUME_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    VIEW_FOLD_FIELD_NUMBER: _ClassVar[int]
    VIEW_KEYS_FIELD_NUMBER: _ClassVar[int]
    apply: Apply
    call: int
    cancel: Cancel
    close: CloseEntity
    command: Command
    consume: Consume
    credit: Credit
    entity: int
    handle: Handle
    hello: Hello
    keep: Keep
    open: OpenEntity
    ping: Ping
    query: Query
    result: HostResult
    snapshot: TakeSnapshot
    view_fold: ViewFold
    view_keys: ViewKeys
    def __init__(self, call: _Optional[int] = ..., entity: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., open: _Optional[_Union[OpenEntity, _Mapping]] = ..., apply: _Optional[_Union[Apply, _Mapping]] = ..., command: _Optional[_Union[Command, _Mapping]] = ..., query: _Optional[_Union[Query, _Mapping]] = ..., keep: _Optional[_Union[Keep, _Mapping]] = ..., snapshot: _Optional[_Union[TakeSnapshot, _Mapping]] = ..., close: _Optional[_Union[CloseEntity, _Mapping]] = ..., handle: _Optional[_Union[Handle, _Mapping]] = ..., consume: _Optional[_Union[Consume, _Mapping]] = ..., view_keys: _Optional[_Union[ViewKeys, _Mapping]] = ..., view_fold: _Optional[_Union[ViewFold, _Mapping]] = ..., result: _Optional[_Union[HostResult, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ..., ping: _Optional[_Union[Ping, _Mapping]] = ..., credit: _Optional[_Union[Credit, _Mapping]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ["done", "retry", "skip"]
    DONE_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    done: Done
    retry: Retry
    skip: str
    def __init__(self, done: _Optional[_Union[Done, _Mapping]] = ..., retry: _Optional[_Union[Retry, _Mapping]] = ..., skip: _Optional[str] = ...) -> None: ...

class ViewFold(_message.Message):
    __slots__ = ["events", "rows", "view"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[KeyedEvent]
    rows: _containers.RepeatedCompositeFieldContainer[Row]
    view: str
    def __init__(self, view: _Optional[str] = ..., rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[KeyedEvent, _Mapping]]] = ...) -> None: ...

class ViewKeys(_message.Message):
    __slots__ = ["events", "view"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntityEvent]
    view: str
    def __init__(self, view: _Optional[str] = ..., events: _Optional[_Iterable[_Union[EntityEvent, _Mapping]]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ["descriptor", "fingerprint", "instance", "sdk", "version", "window"]
    DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    descriptor: str
    fingerprint: str
    instance: str
    sdk: str
    version: int
    window: Window
    def __init__(self, version: _Optional[int] = ..., sdk: _Optional[str] = ..., instance: _Optional[str] = ..., descriptor: _Optional[str] = ..., fingerprint: _Optional[str] = ..., window: _Optional[_Union[Window, _Mapping]] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ["bytes", "calls", "frame_bytes"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    calls: int
    frame_bytes: int
    def __init__(self, bytes: _Optional[int] = ..., calls: _Optional[int] = ..., frame_bytes: _Optional[int] = ...) -> None: ...
