// The series of a service: name, type, meaning, and how each is computed from the numbers that the threads share. The
// first four are part of the contract. Of these, the invocations and their duration cover only the spans in the
// recorder's window, and decrease when spans leave the window.
import {
  COUNT_BOUNDS,
  type HistogramCounts,
  histogramCount,
  SECONDS_BOUNDS,
  summedHistograms,
} from '@svc/model/shared-histogram';
import { FIRING_ENDINGS, type FiringEnding } from '@svc/model/firing-ending';
import type { HandlerEntry } from '@svc/model/handler-table';
import { SPAN_OUTCOMES } from '@svc/model/span-outcome';
import type { RouteLabels, HttpNumbers } from '../../shards/recorder/http-numbers.ts';
import type { KindTotals } from '../../shards/recorder/invocation-totals.ts';
import type { Family, Sample } from './metrics-text.ts';
import type { ShardSeries } from '../../shards/recorder/shard-series.ts';
import { newestCounts } from './newest-spans.ts';
import type { SpanRows } from '../../shards/recorder/span-rows.ts';

/**
 * Maximum number of handlers whose outcomes are all listed. With more handlers, an outcome other than `Ok` is left out
 * if its count is 0: a module may declare so many handlers that zeros would be most of the text.
 */
const HANDLERS_WITH_ZEROS_MAX = 2_500;
/**
 * Leading digits of the bounds of durations that are exported as buckets; all other bounds of durations only serve to
 * compute quantiles.
 */
const BUCKET_STEPS = new Set(['1', '2', '5']);

/** Counts of the journal's writer. */
export interface JournalNumbers {
  /** Time from the arrival of a group of appends until it is on disk. */
  readonly appendSeconds: HistogramCounts;
  /** Number of appends that were stored together. */
  readonly groupSize: HistogramCounts;
  /** Number of records, events and deletions, since the process started. */
  readonly events: number;
  /** Size of the journal in bytes, without its write-ahead log. */
  readonly bytes: number;
}

/** Counts of the timers in the journal. */
export interface TimerNumbers {
  /** Number of timers that are not dead. */
  readonly pending: number;
  readonly dead: number;
  /** Seconds since the earliest timer was to be fired; 0 if none is overdue. */
  readonly overdueSeconds: number;
}

export function windowFamilies(
  handlers: readonly HandlerEntry[],
  windows: readonly SpanRows[],
  capacity: number,
): Family[] {
  const invocations: Sample[] = [];
  const seconds: Sample[] = [];
  const rows = windowRows(handlers, windows, capacity);
  const isLong = rows.length > HANDLERS_WITH_ZEROS_MAX;
  for (const { component, handler, counts, seconds: spent } of rows) {
    for (const [at, outcome] of SPAN_OUTCOMES.entries())
      if (counts[at]! > 0 || !isLong || at === 0)
        invocations.push({ labels: { component, handler, outcome }, value: counts[at]! });
    seconds.push({ labels: { component, handler }, value: spent });
  }
  return [
    {
      name: 'svc_invocations_total',
      type: 'counter',
      help:
        'Invocations in the current window of the recorder, by how they came out. ' +
        'It falls as the window moves on: make no rates of it.',
      samples: invocations,
    },
    {
      name: 'svc_invocation_duration_seconds_sum',
      type: 'counter',
      help:
        'Total handler time in the current window of the recorder, waiting for the entity and the disk included. ' +
        'It falls as the window moves on: make no rates of it.',
      samples: seconds,
    },
    counter(
      'svc_recorder_spans_recorded_total',
      'Spans recorded since the process started.',
      windows.reduce((sum, { recorded }) => sum + recorded, 0),
    ),
    gauge(
      'svc_recorder_capacity',
      'Size of the in-memory window of spans (svc.observability.ring-capacity).',
      capacity,
    ),
  ];
}

interface Row {
  readonly component: string;
  readonly handler: string;
  readonly counts: number[];
  seconds: number;
}

/**
 * Returns the counts by component and handler. The firings of a command share its row. An endpoint and an entity may have the
 * same name, and handlers of the same name; these share a row, too.
 */
function windowRows(
  handlers: readonly HandlerEntry[],
  windows: readonly SpanRows[],
  capacity: number,
): Row[] {
  // A family always has a row, even if no handler exists or was invoked.
  if (handlers.length === 0) return [emptyRow('', '')];
  const rows = new Map<string, Row>();
  for (const { component, handler } of handlers) {
    const name = `${component}/${handler}`;
    if (!rows.has(name)) rows.set(name, emptyRow(component, handler));
  }
  const newest = newestCounts(windows, capacity);
  for (const [shard, window] of windows.entries())
    for (const { handlerIndex, counts, seconds } of window.counted(newest[shard])) {
      const { component, handler } = handlers[handlerIndex]!;
      const row = rows.get(`${component}/${handler}`)!;
      for (const [at, count] of counts.entries()) row.counts[at]! += count;
      row.seconds += seconds;
    }
  return [...rows.values()];
}

function emptyRow(component: string, handler: string): Row {
  return { component, handler, counts: SPAN_OUTCOMES.map(() => 0), seconds: 0 };
}

export function invocationFamilies(totals: readonly KindTotals[]): Family[] {
  return [
    {
      name: 'svc_invocations_ended_total',
      type: 'counter',
      help: 'Invocations since the process started, by kind and by how they came out.',
      samples: totals.flatMap(({ kind, counts }) =>
        SPAN_OUTCOMES.map((outcome, at) => ({ labels: { kind, outcome }, value: counts[at]! })),
      ),
    },
    {
      name: 'svc_invocation_seconds',
      type: 'histogram',
      help: 'How long invocations took, waiting for the entity and the disk included.',
      samples: totals.flatMap(({ kind, seconds }) => histogramSamples(seconds, { kind })),
    },
    {
      name: 'svc_fuel_used_total',
      type: 'counter',
      help: 'Fuel that invocations used; that of folding stored events is not in it.',
      samples: totals.map(({ kind, fuel }) => ({ labels: { kind }, value: fuel })),
    },
  ];
}

export function httpFamilies(
  routes: readonly RouteLabels[],
  shards: readonly HttpNumbers[],
): Family[] {
  const counts = new Map<string, { labels: Readonly<Record<string, string>>; value: number }>();
  for (const shard of shards)
    for (const { route: index, status, count } of shard.answers()) {
      const { method, route } = routes[index] ?? { method: '', route: '' };
      const key = `${index} ${status}`;
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { labels: { route, method, status }, value: count });
      else known.value += count;
    }
  return [
    {
      name: 'svc_http_requests_total',
      type: 'counter',
      help:
        'Requests that were answered, by the template and method of their route and by status; ' +
        'without both: no route was there for them.',
      samples: [...counts.values()],
    },
    {
      name: 'svc_http_request_duration_seconds',
      type: 'histogram',
      help: 'From when the headers of a request had come until its answer is written, its body included.',
      samples: histogramSamples(
        summedHistograms(
          SECONDS_BOUNDS,
          shards.map(({ seconds }) => seconds),
        ),
      ),
    },
  ];
}

/** `sum`: returns the sum of a series over all shards. */
export function shardFamilies(sum: (name: ShardSeries) => number): Family[] {
  return [
    gauge(
      'svc_http_requests_in_flight',
      'Requests whose answer or handler is not done.',
      sum('requests-in-flight'),
    ),
    gauge(
      'svc_http_unsent_bytes',
      'Bytes of responses that callers have not taken yet.',
      sum('unsent-bytes'),
    ),
    gauge(
      'svc_http_body_bytes',
      'Bytes of the bodies of requests that are read or handled.',
      sum('body-bytes'),
    ),
    gauge('svc_entities_in_memory', 'Entities that are in memory.', sum('entities-in-memory')),
    {
      name: 'svc_entity_activations_total',
      type: 'counter',
      help: 'Entities that came into memory: new ones, from a snapshot, or folded from their events.',
      samples: (['empty', 'snapshot', 'folded'] as const).map((kind) => ({
        labels: { kind },
        value: sum(`activations-${kind}`),
      })),
    },
    counter(
      'svc_entity_passivations_total',
      'Entities that left memory because nobody used them.',
      sum('passivations'),
    ),
    {
      name: 'svc_guest_instances',
      type: 'gauge',
      help: 'Instances of the module, by what they serve.',
      samples: (['endpoint', 'entity'] as const).map((kind) => ({
        labels: { kind },
        value: sum(`${kind}-instances`),
      })),
    },
    gauge(
      'svc_guest_memory_bytes',
      'Memory of all instances of the module together.',
      sum('guest-memory-bytes'),
    ),
  ];
}

export function journalFamilies({
  appendSeconds,
  groupSize,
  events,
  bytes,
}: JournalNumbers): Family[] {
  return [
    {
      name: 'svc_journal_append_seconds',
      type: 'histogram',
      help: 'From the arrival of a group of appends at the writer until it is on disk.',
      samples: histogramSamples(appendSeconds),
    },
    {
      name: 'svc_journal_group_size',
      type: 'histogram',
      help: 'Appends that were stored together, in one transaction.',
      samples: histogramSamples(groupSize),
    },
    counter('svc_journal_events_total', 'Records stored since the process started.', events),
    gauge('svc_journal_bytes', 'Size of the journal, without its log of changes.', bytes),
  ];
}

/** `fired`: returns the number of firings with an outcome, over all shards. */
export function timerFamilies(
  { pending, dead, overdueSeconds }: TimerNumbers,
  fired: (outcome: FiringEnding) => number,
): Family[] {
  return [
    {
      name: 'svc_timers',
      type: 'gauge',
      help: 'Timers in the journal. A dead one has failed too often and is not fired.',
      samples: [
        { labels: { state: 'pending' }, value: pending },
        { labels: { state: 'dead' }, value: dead },
      ],
    },
    gauge(
      'svc_timers_overdue_seconds',
      'Time since the earliest pending timer was to be fired; 0 if none is overdue.',
      overdueSeconds,
    ),
    labelledCounter(
      'svc_timer_firings_total',
      'Firings since the process started, by how they ended.',
      'outcome',
      FIRING_ENDINGS.map((outcome) => [outcome, fired(outcome)] as const),
    ),
  ];
}

export function counter(name: string, help: string, value: number): Family {
  return { name, type: 'counter', help, samples: [{ value }] };
}

export function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, samples: [{ value }] };
}

/** Makes one family of several counts that differ in the value of one label. */
export function labelledCounter(
  name: string,
  help: string,
  label: string,
  counts: readonly (readonly [value: string, count: number])[],
): Family {
  const samples = counts.map(([value, count]) => ({ labels: { [label]: value }, value: count }));
  return { name, type: 'counter', help, samples };
}

/** Returns the samples of a histogram, with these labels beside the bounds. */
export function histogramSamples(
  histogram: HistogramCounts,
  labels: Readonly<Record<string, string>> = {},
): Sample[] {
  const samples: Sample[] = [];
  let within = 0;
  for (const [at, bound] of histogram.bounds.entries()) {
    within += histogram.counts[at]!;
    if (isBucketBound(histogram.bounds, bound))
      samples.push({ suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: within });
  }
  const count = histogramCount(histogram);
  samples.push(
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: histogram.sum },
    { suffix: '_count', labels, value: count },
  );
  return samples;
}

function isBucketBound(bounds: readonly number[], bound: number): boolean {
  return bounds === COUNT_BOUNDS || BUCKET_STEPS.has(bound.toExponential().split('e')[0]!);
}
