// HandlerFrames: the requests, responses, events and host calls of handlers as frames, and back.
import type { Verdict } from '@svc/model/consumer';
import type { Body, EndpointResponse, HeaderList, WholeRequest } from '@svc/model/endpoint';
import type { EntityEvent, JournalRecord } from '@svc/model/entity';
import type { ServiceRequest, ServiceResponse } from '@svc/model/service-call';
import type { RowPage } from '@svc/model/view';
import type { CallContext } from '@svc/model/call';
import { contextFrame } from './call-frames.ts';
import type {
  Body as BodyFrame,
  EntityEvent as EventFrame,
  Handle,
  Header,
  Page,
  RecordedEvent as RecordedFrame,
  Response as ResponseFrame,
  ServiceRequest as ServiceRequestFrame,
  ServiceResponse as ServiceResponseFrame,
  Verdict as VerdictFrame,
} from './generated/svc/process/v1/process.ts';
import { ProtocolError, required } from './protocol-error.ts';

/** A recorded event, as a handler reads it. */
export type RecordedEvent = JournalRecord & { readonly kind: 'event' };

export function handleFrame(context: CallContext, request: WholeRequest): Handle {
  const { route, parameters, query, headers, caller, body } = request;
  return {
    context: contextFrame(context),
    route,
    parameters,
    query,
    headers: headerFrames(headers),
    caller,
    body: bodyFrame(body),
  };
}

export function requestOf({
  route,
  parameters,
  query,
  headers,
  caller,
  body,
}: Handle): WholeRequest {
  return { route, parameters, query, headers: headersOf(headers), caller, body: bodyOf(body) };
}

export function responseFrame({ status, headers, body }: EndpointResponse): ResponseFrame {
  return { status, headers: headerFrames(headers), body: bodyFrame(body) };
}

/** Throws ProtocolError for a status that no response has. */
export function responseOf({ status, headers, body }: ResponseFrame): EndpointResponse {
  if (status < 200 || status > 599)
    throw new ProtocolError(`a response has the status ${status}: 200 to 599 are allowed`);
  return { kind: 'response', status, headers: headersOf(headers), body: bodyOf(body) };
}

function bodyFrame(body: Body): BodyFrame {
  switch (body.kind) {
    case 'none':
      return { kind: undefined };
    case 'json':
      return { kind: { $case: 'json', value: body.text } };
    case 'text':
      return { kind: { $case: 'text', value: body.text } };
    case 'bytes':
      return { kind: { $case: 'bytes', value: body.bytes } };
  }
}

function bodyOf(frame: BodyFrame | undefined): Body {
  const body = frame?.kind;
  if (body === undefined) return { kind: 'none' };
  return body.$case === 'bytes'
    ? { kind: 'bytes', bytes: body.value }
    : { kind: body.$case, text: body.value };
}

function headerFrames(headers: HeaderList): readonly Header[] {
  return headers.map(([name, value]) => ({ name, value }));
}

function headersOf(headers: readonly Header[]): HeaderList {
  return headers.map(({ name, value }) => [name, value] as const);
}

export function eventFrame({ entity, seq, timeMs, event }: EntityEvent): EventFrame {
  return { component: entity.component, id: entity.id, seq, timeMs, event };
}

export function eventOf(frame: EventFrame | undefined): EntityEvent {
  const { component, id, seq, timeMs, event } = required(frame, 'an event');
  return { entity: { component, id }, seq, timeMs, event: required(event, 'the text of an event') };
}

export function verdictFrame(verdict: Verdict): VerdictFrame {
  switch (verdict.kind) {
    case 'done':
      return { kind: { $case: 'done', value: {} } };
    case 'retry': {
      const { reason, afterMs } = verdict;
      return { kind: { $case: 'retry', value: { reason, afterMs } } };
    }
    case 'skip':
      return { kind: { $case: 'skip', value: verdict.reason } };
  }
}

export function verdictOf(frame: VerdictFrame): Verdict {
  const verdict = required(frame.kind, 'the kind of a verdict');
  switch (verdict.$case) {
    case 'done':
      return { kind: 'done' };
    case 'retry':
      return { kind: 'retry', reason: verdict.value.reason, afterMs: verdict.value.afterMs };
    case 'skip':
      return { kind: 'skip', reason: verdict.value };
  }
}

export function recordedFrame({ seq, timeMs, event }: RecordedEvent): RecordedFrame {
  return { seq, timeMs, event };
}

export function recordedOf({ seq, timeMs, event }: RecordedFrame): RecordedEvent {
  return { kind: 'event', seq, timeMs, event: required(event, 'the text of an event') };
}

export function serviceRequestFrame(request: ServiceRequest): ServiceRequestFrame {
  const { headers, body, ...rest } = request;
  return { ...rest, headers: headerFrames(headers), body };
}

export function serviceRequestOf({ headers, ...rest }: ServiceRequestFrame): ServiceRequest {
  return { ...rest, headers: headersOf(headers) };
}

export function serviceResponseFrame({
  headers,
  body,
  status,
}: ServiceResponse): ServiceResponseFrame {
  return { status, headers: headerFrames(headers), body };
}

export function serviceResponseOf({ headers, ...rest }: ServiceResponseFrame): ServiceResponse {
  return { ...rest, headers: headersOf(headers) };
}

export function pageFrame({ rows, cursor, asOfMs }: RowPage): Page {
  return { rows, cursor, asOfMs };
}

export function pageOf({ rows, cursor, asOfMs }: Page): RowPage {
  return { rows, cursor, asOfMs };
}
