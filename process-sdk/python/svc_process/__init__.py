"""The SDK of svc for Python: the code of a service in a process of its own, beside svc's runtime."""

from .clients import BlockingEntityClient, EntityClient, Page, RecordedEvent, RowCount
from .components import Configuration, Schedule
from .consumer import DONE, Consumer, Verdict, retry, skip
from .contexts import BlockingConsumerContext, BlockingContext, ConsumerContext, Context
from .due import DeferredCall, Due
from .effects import Change, CommandContext, Effect, QueryContext
from .bearer import Bearer, Grants, Principal
from .check import CheckRequest
from .cors import Cors
from .declared import Security
from .endpoint import Endpoint, Response, Routes
from .entity import Entity, Handler
from .errors import AddressError, CallFailed, Cancelled, CodecError, DefinitionError
from .frozen_map import FrozenMap
from .log_lines import log
from .markers import Description, Int32, Int64, Length, Name, Pattern, PlainText, Range, UInt32, UInt64, tag
from .refusal import Refusal
from .request import Request
from .server import Served, serve, serve_async
from .service_client import BlockingServiceClient, ServiceClient, ServiceResponse
from .version import VERSION
from .view import EventContext, FoldContext, RowChange, View, ViewQuery

__all__ = [
    "DONE",
    "VERSION",
    "AddressError",
    "BlockingConsumerContext",
    "BlockingContext",
    "BlockingEntityClient",
    "BlockingServiceClient",
    "CallFailed",
    "Bearer",
    "Cancelled",
    "Change",
    "CheckRequest",
    "CodecError",
    "CommandContext",
    "Configuration",
    "Consumer",
    "ConsumerContext",
    "Context",
    "Cors",
    "DeferredCall",
    "DefinitionError",
    "Description",
    "Due",
    "Effect",
    "Endpoint",
    "Entity",
    "EntityClient",
    "EventContext",
    "FoldContext",
    "FrozenMap",
    "Grants",
    "Handler",
    "Int32",
    "Int64",
    "Length",
    "Name",
    "Page",
    "Pattern",
    "PlainText",
    "Principal",
    "QueryContext",
    "Range",
    "RecordedEvent",
    "Refusal",
    "Request",
    "Response",
    "Routes",
    "RowChange",
    "RowCount",
    "Schedule",
    "Security",
    "Served",
    "ServiceClient",
    "ServiceResponse",
    "UInt32",
    "UInt64",
    "Verdict",
    "View",
    "ViewQuery",
    "log",
    "retry",
    "serve",
    "serve_async",
    "skip",
    "tag",
]
