// OtlpSpan converts a recorded span into a ReadableSpan of OpenTelemetry's SDK, with the members that the SDK's
// exporter reads. Attributes have the names of the semantic conventions if there are such, and otherwise begin with
// `svc.`.
import {
  createTraceState,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { InvocationKind } from '@svc/contract';
import type { ExportedRoute, OtlpSource } from './otlp-messages.ts';
import type { RecordedFault, RecordedSpan } from '../../shards/recorder/recorded-span.ts';
import { hasFailed } from './trace-tree.ts';

const MS_PER_S = 1_000;
const NS_PER_MS = 1e6;

const SPAN_KINDS: Readonly<Record<InvocationKind, SpanKind>> = {
  endpoint: SpanKind.SERVER,
  command: SpanKind.INTERNAL,
  query: SpanKind.INTERNAL,
  firing: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
};

export type ToReadableSpan = (span: RecordedSpan) => ReadableSpan;

export function readableSpans({
  service,
  instanceId,
  runtimeVersion,
  routes,
}: OtlpSource): ToReadableSpan {
  const resource = resourceFromAttributes({
    'service.name': service,
    'service.instance.id': instanceId,
  });
  const instrumentationScope = { name: 'svc', version: runtimeVersion };
  const routeOf = new Map(routes.map((route) => [`${route.endpoint}/${route.handler}`, route]));
  return (span) => {
    const { kind, component, handler, traceId, parentId, traceState, startMs, durationMs } = span;
    const isRequest = kind === 'endpoint';
    const route = isRequest ? routeOf.get(`${component}/${handler}`) : undefined;
    const endTime = timeOf(startMs + durationMs);
    const ownContext = {
      ...contextOf(traceId, span.spanId, false),
      ...(traceState === undefined ? {} : { traceState: createTraceState(traceState) }),
    };
    const fault = hasFailed(span.outcome) ? span.fault : undefined;
    return {
      name: route === undefined ? `${component}.${handler}` : `${route.method} ${route.path}`,
      kind: SPAN_KINDS[kind],
      spanContext: () => ownContext,
      // Callers of an endpoint are outside of the service, callers of an entity inside.
      ...(parentId === undefined
        ? {}
        : { parentSpanContext: contextOf(traceId, parentId, isRequest) }),
      startTime: timeOf(startMs),
      endTime,
      duration: timeOf(durationMs),
      ended: true,
      status: hasFailed(span.outcome)
        ? { code: SpanStatusCode.ERROR, message: fault?.reason ?? span.outcome }
        : { code: SpanStatusCode.UNSET },
      attributes: {
        ...attributesOf(span),
        ...routeAttributes(span, route),
        ...failureAttributes(span),
      },
      events: fault === undefined ? [] : [exceptionOf(fault, endTime)],
      links: [],
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  };
}

function attributesOf({
  kind,
  component,
  handler,
  entityId,
  outcome,
  fuel,
  events,
  shard,
}: RecordedSpan) {
  return {
    'svc.kind': kind,
    'svc.component': component,
    'svc.handler': handler,
    ...(entityId === undefined ? {} : { 'svc.entity.id': entityId }),
    'svc.outcome': outcome,
    'svc.fuel': fuel,
    'svc.events': events,
    'svc.shard': shard,
  };
}

function routeAttributes({ status = 0 }: RecordedSpan, route: ExportedRoute | undefined) {
  return {
    ...(route === undefined
      ? {}
      : { 'http.request.method': route.method, 'http.route': route.path }),
    ...(status === 0 ? {} : { 'http.response.status_code': status }),
  };
}

/** Returns the attributes that describe a refusal or a failure. */
function failureAttributes({ outcome, fault, status }: RecordedSpan) {
  if (hasFailed(outcome))
    return {
      'error.type': fault?.code ?? String(status ?? outcome),
      ...(fault?.limit === undefined ? {} : { 'svc.limit': fault.limit }),
      ...(fault?.errorId === undefined ? {} : { 'svc.error.id': fault.errorId }),
    };
  if (fault === undefined) return {};
  return { 'svc.refusal.code': fault.code, 'svc.refusal.message': fault.reason };
}

function exceptionOf({ code, reason, guestMessage }: RecordedFault, time: HrTime) {
  const message = guestMessage === undefined ? reason : `${reason}\n${guestMessage}`;
  return {
    name: 'exception',
    time,
    attributes: { 'exception.type': code, 'exception.message': message },
  };
}

function contextOf(traceId: string, spanId: string, isRemote: boolean): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote };
}

/** Converts milliseconds into seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / MS_PER_S);
  return [seconds, Math.round((ms - seconds * MS_PER_S) * NS_PER_MS)];
}
