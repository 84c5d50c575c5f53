// The series that are computed from the counts of shards: the four of the contract, and the further ones.
import { describe, expect, test } from 'vitest';
import { HandlerTable } from '../../../../model/handler-table.ts';
import type { SpanOutcome } from '../../../../model/span-outcome.ts';
import { COUNT_BOUNDS, SECONDS_BOUNDS } from '../../../../model/shared-histogram.ts';
import { HttpNumbers } from '../../../../host/shards/recorder/http-numbers.ts';
import { clusterFamilies } from '../../../../host/introspection/observability/cluster-families.ts';
import { metricsText } from '../../../../host/introspection/observability/metrics-text.ts';
import {
  httpFamilies,
  journalFamilies,
  shardFamilies,
  timerFamilies,
  windowFamilies,
} from '../../../../host/introspection/observability/series.ts';
import { newestCounts } from '../../../../host/introspection/observability/newest-spans.ts';
import { SpanRows } from '../../../../host/shards/recorder/span-rows.ts';
import { handlersDescriptor } from './support/handlers-descriptor.ts';

const { handlers } = new HandlerTable(handlersDescriptor());
const [ADD, GET, SHOW] = [0, 1, 2];
const linesOf = (text: string, name: string) =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

/** Adds a span of this duration, in milliseconds. */
function add(
  window: SpanRows,
  handlerIndex: number,
  outcome: SpanOutcome,
  durationMs: number,
): void {
  const span = { handlerIndex, startMs: 0, fuel: 0, trace: undefined, parentId: undefined };
  window.add(span, durationMs, outcome, 0);
}

const windowOf = (count = handlers.length, capacity = 100) => new SpanRows(count, capacity);

describe('the window', () => {
  test('svc_invocations_total counts each invocation of the window by component, handler and outcome', () => {
    const [one, two] = [windowOf(), windowOf(handlers.length, 2)];
    add(one, ADD, 0, 1);
    add(one, ADD, 1, 1);
    // It leaves the window when the third one is added.
    add(two, GET, 2, 1);
    add(two, ADD, 0, 1);
    add(two, SHOW, 3, 1);
    const lines = linesOf(
      metricsText(windowFamilies(handlers, [one, two], 200)),
      'svc_invocations_total',
    );
    expect(lines).toHaveLength(16);
    expect(lines.filter((line) => !line.endsWith(' 0'))).toEqual([
      'svc_invocations_total{component="counter",handler="add",outcome="Ok"} 2',
      'svc_invocations_total{component="counter",handler="add",outcome="Refused"} 1',
      'svc_invocations_total{component="CounterEndpoint",handler="show",outcome="TimedOut"} 1',
    ]);
  });

  test('the firings of a command share its row, and a consumer has a row for each of its sources', () => {
    const consumers = [{ id: 'ledger', start: 'now', sources: ['counter'] }] as const;
    const table = new HandlerTable({
      ...handlersDescriptor(),
      consumers: consumers.map((consumer) => ({ ...consumer, sources: [...consumer.sources] })),
    });
    const window = windowOf(table.handlers.length);
    add(window, ADD, 0, 1);
    add(window, table.firingOf(ADD), 0, 1);
    add(window, table.consumerOf('ledger', 'counter')!, 1, 1);
    const lines = linesOf(
      metricsText(windowFamilies(table.handlers, [window], 200)),
      'svc_invocations_total',
    );
    expect(lines.filter((line) => !line.endsWith(' 0'))).toEqual([
      'svc_invocations_total{component="counter",handler="add",outcome="Ok"} 2',
      'svc_invocations_total{component="ledger",handler="counter",outcome="Refused"} 1',
    ]);
    expect(table.consumerOf('ledger', 'other')).toBeUndefined();
  });

  test('svc_invocation_duration_seconds_sum is the total handler time of the window, by component and handler', () => {
    const [one, two] = [windowOf(), windowOf()];
    add(one, ADD, 0, 1_500);
    add(two, ADD, 2, 250);
    const text = metricsText(windowFamilies(handlers, [one, two], 200));
    expect(text).toContain('# TYPE svc_invocation_duration_seconds_sum counter\n');
    expect(linesOf(text, 'svc_invocation_duration_seconds_sum')).toEqual([
      'svc_invocation_duration_seconds_sum{component="counter",handler="add"} 1.75',
      'svc_invocation_duration_seconds_sum{component="counter",handler="get"} 0',
      'svc_invocation_duration_seconds_sum{component="CounterEndpoint",handler="show"} 0',
      'svc_invocation_duration_seconds_sum{component="CounterEndpoint",handler="add"} 0',
    ]);
  });

  test('svc_recorder_spans_recorded_total counts all, and svc_recorder_capacity is what was set', () => {
    const [one, two] = [windowOf(handlers.length, 2), windowOf()];
    for (let n = 0; n < 5; n++) add(one, ADD, 0, 1);
    add(two, ADD, 0, 1);
    const text = metricsText(windowFamilies(handlers, [one, two], 10_000));
    expect(text).toContain('# TYPE svc_recorder_spans_recorded_total counter\n');
    expect(text).toContain('\nsvc_recorder_spans_recorded_total 6\n');
    expect(text).toContain('# TYPE svc_recorder_capacity gauge\n');
    expect(text).toContain('\nsvc_recorder_capacity 10000\n');
  });

  test('holds as many spans as svc_recorder_capacity says, those that ended last, whichever shard has the load', () => {
    const windows = [windowOf(handlers.length, 8), windowOf(handlers.length, 8)];
    const counted = () =>
      linesOf(metricsText(windowFamilies(handlers, windows, 8)), 'svc_invocations_total')
        .map((line) => Number(line.split(' ').at(-1)))
        .reduce((sum, count) => sum + count);
    for (const window of windows) window.begin();
    add(windows[1]!, GET, 0, 1);
    add(windows[1]!, GET, 0, 2);
    for (let n = 3; n <= 9; n++) add(windows[0]!, ADD, 0, n);
    expect(counted()).toBe(8);
    expect(newestCounts(windows, 8)).toEqual([7, 1]);
    for (let n = 10; n <= 30; n++) add(windows[0]!, ADD, 0, n);
    expect(newestCounts(windows, 8)).toEqual([8, 0]);
    expect(counted()).toBe(8);
    for (let n = 31; n <= 33; n++) add(windows[1]!, GET, 0, n);
    expect(newestCounts(windows, 8)).toEqual([5, 3]);
    expect(counted()).toBe(8);
  });

  test('outcome is one of Ok, Refused, Failed, TimedOut', () => {
    const text = metricsText(windowFamilies(handlers, [windowOf()], 1));
    const outcomes = [...text.matchAll(/outcome="(\w+)"/g)].map(([, word]) => word);
    expect(new Set(outcomes)).toEqual(new Set(['Ok', 'Refused', 'Failed', 'TimedOut']));
  });

  test('a service that has served nothing answers with zeroed series, not an empty body', () => {
    for (const those of [handlers, []]) {
      const text = metricsText(windowFamilies(those, [], 100));
      for (const name of ['svc_invocations_total', 'svc_invocation_duration_seconds_sum']) {
        const lines = linesOf(text, name);
        expect(lines.length).toBeGreaterThan(0);
        expect(lines.every((line) => line.endsWith(' 0'))).toBe(true);
      }
      expect(linesOf(text, 'svc_recorder_spans_recorded_total')).toEqual([
        'svc_recorder_spans_recorded_total 0',
      ]);
    }
  });

  test('no two rows have the same labels, also where an endpoint is called as an entity is', () => {
    const twice = [
      { kind: 'command', component: 'cart', handler: 'add' },
      { kind: 'endpoint', component: 'cart', handler: 'add' },
      { kind: 'endpoint', component: 'cart', handler: 'add' },
    ] as const;
    const window = windowOf(3);
    for (let handlerIndex = 0; handlerIndex < 3; handlerIndex++)
      add(window, handlerIndex, 0, 1_000);
    const text = metricsText(windowFamilies(twice, [window], 100));
    const names = text.split('\n').map((line) => line.split(' ')[0]!);
    const rows = names.filter((name) => name.includes('{'));
    expect(rows).toEqual([...new Set(rows)]);
    expect(text).toContain('{component="cart",handler="add",outcome="Ok"} 3\n');
    expect(text).toContain('_sum{component="cart",handler="add"} 3\n');
  });

  test('of a module of very many handlers the rows of nothing are few', () => {
    const many = Array.from({ length: 3_000 }, (_, n) => ({
      kind: 'command' as const,
      component: 'c',
      handler: `h${n}`,
    }));
    const window = windowOf(many.length);
    add(window, 7, 2, 1);
    const lines = linesOf(metricsText(windowFamilies(many, [window], 1)), 'svc_invocations_total');
    expect(lines).toHaveLength(3_001);
    expect(lines).toContain('svc_invocations_total{component="c",handler="h7",outcome="Failed"} 1');
  });
});

describe('HTTP', () => {
  const routes = [
    { method: 'GET', route: '/counters/{id}' },
    { method: 'POST', route: '/counters/{id}' },
  ];

  test('svc_http_requests_total counts answers by route, method and status, of all shards', () => {
    const [one, two] = [new HttpNumbers(2), new HttpNumbers(2)];
    one.answered(0, 200, 1);
    two.answered(0, 200, 1);
    one.answered(1, 503, 1);
    one.answered(-1, 404, 1);
    one.answered(1, 418, 1);
    two.answered(1, 299, 1);
    const text = metricsText(httpFamilies(routes, [one, two]));
    expect(linesOf(text, 'svc_http_requests_total').toSorted()).toEqual([
      'svc_http_requests_total{route="",method="",status="404"} 1',
      'svc_http_requests_total{route="/counters/{id}",method="GET",status="200"} 2',
      'svc_http_requests_total{route="/counters/{id}",method="POST",status="503"} 1',
      'svc_http_requests_total{route="/counters/{id}",method="POST",status="other"} 2',
    ]);
  });

  test('a status that there cannot be is counted among the others', () => {
    const numbers = new HttpNumbers(1);
    for (const status of [0, 999, -1, 65_535]) numbers.answered(0, status, 1);
    expect(numbers.answers()).toEqual([{ route: 0, status: 'other', count: 4 }]);
  });

  test('svc_http_request_duration_seconds has cumulative buckets, and the last is all', () => {
    const numbers = new HttpNumbers(1);
    for (const ms of [0.05, 1, 1.5, 1e9]) numbers.answered(0, 200, ms);
    const text = metricsText(httpFamilies(routes.slice(1), [numbers]));
    const name = 'svc_http_request_duration_seconds';
    expect(text).toContain(`# TYPE ${name} histogram\n`);
    expect(text).toContain(`${name}_bucket{le="0.00005"} 1\n`);
    expect(text).toContain(`${name}_bucket{le="0.001"} 2\n`);
    expect(text).toContain(`${name}_bucket{le="0.002"} 3\n`);
    expect(text).toContain(`${name}_bucket{le="50"} 3\n`);
    expect(text).toContain(`${name}_bucket{le="+Inf"} 4\n${name}_sum 1000000.00255\n`);
    expect(text).toContain(`${name}_count 4\n`);
  });
});

test('samples of shards are exported under the names of the metrics', () => {
  const text = metricsText(shardFamilies((name) => name.length));
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'svc_http_requests_in_flight 18',
    'svc_http_unsent_bytes 12',
    'svc_http_body_bytes 10',
    'svc_entities_in_memory 18',
    'svc_entity_activations_total{kind="empty"} 17',
    'svc_entity_activations_total{kind="snapshot"} 20',
    'svc_entity_activations_total{kind="folded"} 18',
    'svc_entity_passivations_total 12',
    'svc_guest_instances{kind="endpoint"} 18',
    'svc_guest_instances{kind="entity"} 16',
    'svc_guest_memory_bytes 18',
  ]);
});

test('the timers, by their states', () => {
  const numbers = { pending: 3, dead: 1, overdueSeconds: 1.5 };
  const text = metricsText(timerFamilies(numbers, (ending) => ending.length));
  expect(text).toContain('\nsvc_timers{state="pending"} 3\nsvc_timers{state="dead"} 1\n');
  expect(text).toContain('\nsvc_timers_overdue_seconds 1.5\n');
  expect(linesOf(text, 'svc_timer_firings_total')).toEqual([
    'svc_timer_firings_total{outcome="replied"} 7',
    'svc_timer_firings_total{outcome="refused"} 7',
    'svc_timer_firings_total{outcome="retried"} 7',
    'svc_timer_firings_total{outcome="dead"} 4',
    'svc_timer_firings_total{outcome="gone"} 4',
    'svc_timer_firings_total{outcome="moved"} 5',
    'svc_timer_firings_total{outcome="unavailable"} 11',
  ]);
});

test('the cluster, by nodes, slices and calls; nothing for a service with one node', () => {
  expect(clusterFamilies(undefined, () => 0)).toEqual([]);
  const counts = {
    leaseLeftMs: 4_500,
    slices: 512,
    acquired: { free: 1, ended: 2, node: 3 },
    handedOver: 4,
    handOverSeconds: { bounds: SECONDS_BOUNDS, counts: [...none(SECONDS_BOUNDS), 2], sum: 300 },
  };
  const nodes = (['Up', 'Up', 'Leaving'] as const).map((status) => ({ status }));
  const text = metricsText(clusterFamilies({ counts, nodes }, (kind) => kind.length));
  const values = text.split('\n').filter((line) => /^\w/.test(line) && !line.includes('_bucket'));
  expect(values).toEqual([
    'svc_cluster_nodes{status="Joining"} 0',
    'svc_cluster_nodes{status="Up"} 2',
    'svc_cluster_nodes{status="Leaving"} 1',
    'svc_cluster_nodes{status="Down"} 0',
    'svc_cluster_lease_left_seconds 4.5',
    'svc_cluster_slices 512',
    'svc_cluster_slices_acquired_total{from="free"} 1',
    'svc_cluster_slices_acquired_total{from="ended"} 2',
    'svc_cluster_slices_acquired_total{from="node"} 3',
    'svc_cluster_slices_handed_over_total 4',
    'svc_cluster_hand_over_seconds_sum 300',
    'svc_cluster_hand_over_seconds_count 2',
    'svc_cluster_calls_total{kind="sent"} 4',
    'svc_cluster_calls_total{kind="unreachable"} 11',
    'svc_cluster_calls_total{kind="served"} 6',
    'svc_cluster_calls_total{kind="refused"} 7',
  ]);
});

const none = (bounds: readonly number[]) => bounds.map(() => 0);

test('the journal: how long appends take, how many go together, and how much there is', () => {
  const text = metricsText(
    journalFamilies({
      appendSeconds: { bounds: SECONDS_BOUNDS, counts: [...none(SECONDS_BOUNDS), 2], sum: 300 },
      groupSize: { bounds: COUNT_BOUNDS, counts: [3, ...none(COUNT_BOUNDS)], sum: 3 },
      events: 12,
      bytes: 4_096,
    }),
  );
  expect(text).toContain('svc_journal_append_seconds_count 2\n');
  expect(text).toContain('svc_journal_group_size_bucket{le="1"} 3\n');
  expect(text).toContain('svc_journal_group_size_bucket{le="4096"} 3\n');
  expect(text).toContain('\nsvc_journal_events_total 12\n');
  expect(text).toContain('\nsvc_journal_bytes 4096\n');
});
