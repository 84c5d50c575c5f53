// The metrics of a running service: a deployed instance as a real process, and real shards in this one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { recordedService } from '../support/recorded-service.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const counter = join(folder, 'counter.wasm');
let faulty: Uint8Array;

beforeAll(async () => {
  writeFileSync(counter, await compileFixture('counter'));
  faulty = await compileFixture('faulty');
});

/** By name with labels. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const at = line.lastIndexOf(' ');
    const name = line.slice(0, at);
    if (samples.has(name)) throw new Error(`there are two of ${name}`);
    samples.set(name, Number(line.slice(at + 1)));
  }
  return samples;
}

const scrape = async (management: string) => {
  const answer = await fetch(`${management}/svc/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return answer.text();
};

test('GET /svc/metrics has every series, zeroed while nothing was served, and then what was', async () => {
  const { svc, management } = await startDeployed(counter, join(folder, 'data'));
  const url = await svc.listening();
  const before = samplesOf(await scrape(management));
  const ofWindow = [...before].filter(([name]) => name.startsWith('svc_invocation'));
  expect(ofWindow.length).toBeGreaterThan(16);
  expect(ofWindow.every(([, value]) => value === 0)).toBe(true);
  expect(before.get('svc_recorder_spans_recorded_total')).toBe(0);
  expect(before.get('svc_recorder_capacity')).toBe(10_000);

  const post = async (amount: number) =>
    fetch(`${url}/counters/a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount }),
    });
  for (const amount of [1, 2, 0]) await post(amount);
  await fetch(`${url}/counters/a`);
  await fetch(`${url}/nowhere`);
  // The journal's writer counts what it has confirmed.
  await expect
    .poll(async () => samplesOf(await scrape(management)).get('svc_journal_events_total'))
    .toBe(2);

  const text = await scrape(management);
  const after = samplesOf(text);
  const row = (component: string, handler: string, outcome: string) =>
    after.get(
      `svc_invocations_total{component="${component}",handler="${handler}",outcome="${outcome}"}`,
    );
  expect(row('counter', 'add', 'Ok')).toBe(2);
  expect(row('counter', 'add', 'Refused')).toBe(1);
  expect(row('counter', 'get', 'Ok')).toBe(1);
  expect(row('CounterEndpoint', 'add', 'Ok')).toBe(2);
  expect(row('CounterEndpoint', 'get', 'Failed')).toBe(0);
  expect(
    after.get('svc_invocation_duration_seconds_sum{component="counter",handler="add"}'),
  ).toBeGreaterThan(0);
  expect(after.get('svc_recorder_spans_recorded_total')).toBe(8);

  // Every name has been described, and is ours or what every program has.
  const described = new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]),
  );
  expect([...text.matchAll(/^# HELP (\w+) \S/gm)].map(([, name]) => name)).toEqual([
    ...described.keys(),
  ]);
  for (const name of after.keys()) {
    expect(name).toMatch(/^(svc|process)_/);
    const plain = name.replace(/\{.*$/, '');
    const family = plain.replace(/_(bucket|sum|count)$/, '');
    expect(described.has(plain) || described.get(family) === 'histogram').toBe(true);
  }
  // The further ones: what these requests have done.
  for (const [name, value] of [
    ['svc_invocations_ended_total{kind="endpoint",outcome="Ok"}', 3],
    ['svc_invocations_ended_total{kind="command",outcome="Refused"}', 1],
    ['svc_invocation_seconds_count{kind="query"}', 1],
    ['svc_http_requests_total{route="/counters/{id}",method="POST",status="200"}', 2],
    ['svc_http_requests_total{route="/counters/{id}",method="POST",status="400"}', 1],
    ['svc_http_requests_total{route="",method="",status="404"}', 1],
    ['svc_http_request_duration_seconds_count', 5],
    ['svc_journal_events_total', 2],
    ['svc_shards_listening', after.get('svc_shards')],
    ['svc_timers{state="pending"}', 0],
    ['svc_timers{state="dead"}', 0],
    ['svc_timers_overdue_seconds', 0],
    ['svc_shard_ends_total', 0],
    ['svc_log_lines_not_written_total', 0],
    ['svc_guest_faults_total{cause="trap"}', 0],
    ['svc_failures_total{code="SVC_JOURNAL_FULL"}', 0],
  ] as const)
    expect([name, after.get(name)]).toEqual([name, value]);
  for (const name of [
    'svc_fuel_used_total{kind="endpoint"}',
    'svc_fuel_used_total{kind="command"}',
    'svc_journal_append_seconds_count',
    'svc_journal_group_size_sum',
    'svc_journal_bytes',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
  ])
    expect(after.get(name)).toBeGreaterThan(0);
  const startedMs = after.get('process_start_time_seconds')! * 1_000;
  expect(Math.abs(Date.now() - startedMs)).toBeLessThan(600_000);

  // What a shard samples once a second.
  await expect
    .poll(async () => samplesOf(await scrape(management)).get('svc_entities_in_memory'))
    .toBe(1);
  // The sample before may be of the time of the last request.
  await expect
    .poll(async () => samplesOf(await scrape(management)).get('svc_http_requests_in_flight'))
    .toBe(0);
  const sampled = samplesOf(await scrape(management));
  expect(sampled.get('svc_entity_activations_total{kind="empty"}')).toBe(1);
  expect(sampled.get('svc_guest_instances{kind="entity"}')).toBe(1);
  expect(sampled.get('svc_guest_instances{kind="endpoint"}')).toBeGreaterThan(0);
  expect(sampled.get('svc_guest_memory_bytes')).toBeGreaterThan(65_535);
});

test('svc_recorder_capacity is what svc.observability.ring-capacity says, whatever the number of shards', async () => {
  const { metrics, supervisor } = await recordedService(faulty, {
    shards: 3,
    sections: { observability: { ringCapacity: 257 } },
  });
  expect(samplesOf(metrics.text()).get('svc_recorder_capacity')).toBe(257);
  // The load may be on any one of them.
  expect(supervisor.numbers.map(({ window }) => window.capacity)).toEqual([257, 257, 257]);
});

test('the window holds svc.observability.ring-capacity spans also where all of the load is on one of two shards', async () => {
  const service = await recordedService(faulty, {
    shards: 2,
    sections: { observability: { ringCapacity: 256 } },
  });
  // Two spans each, of one entity and so of one shard.
  for (let n = 0; n < 200; n++) await service.post('/faulty/count/a/1');
  const counts = [...samplesOf(service.metrics.text())].filter(([name]) =>
    name.startsWith('svc_invocations_total'),
  );
  expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(256);
});

test('counts drop as the window overwrites old spans', async () => {
  const service = await recordedService(faulty, {
    sections: { observability: { ringCapacity: 256 } },
  });
  const count = (name: string) => samplesOf(service.metrics.text()).get(name);
  const counted = 'svc_invocations_total{component="FaultyEndpoint",handler="count",outcome="Ok"}';
  for (let n = 0; n < 5; n++) await service.post('/faulty/count/a/1');
  expect(count(counted)).toBe(5);
  for (let n = 0; n < 256; n++) await (await fetch(`${service.url}/faulty/requests`)).text();
  expect(count(counted)).toBe(0);
  expect(
    count('svc_invocations_total{component="FaultyEndpoint",handler="requests",outcome="Ok"}'),
  ).toBe(256);
  expect(count('svc_recorder_spans_recorded_total')).toBe(266);
  expect(count('svc_invocations_ended_total{kind="command",outcome="Ok"}')).toBe(5);
});

describe('a shard that did not answer and was started again', () => {
  test('svc_recorder_spans_recorded_total counts since process start, also after that', async () => {
    const service = await recordedService(faulty, {
      sections: {
        supervisor: { heartbeatMs: 20, hangAfterMs: 200, restartPauseMs: 1 },
        // As much as there can be: seconds.
        wasm: { handlerFuel: 2_000_000_000 },
      },
    });
    const sample = (name: string) => samplesOf(service.metrics.text()).get(name);
    await service.post('/faulty/count/a/1');
    await service.spans(2);
    await expect(fetch(`${service.url}/faulty/spin`)).rejects.toThrow('fetch failed');
    for (const name of ['svc_shard_hangs_total', 'svc_shards_listening'])
      await expect.poll(() => sample(name)).toBe(1);
    // Its window is a new one, and nothing is in memory.
    const counted =
      'svc_invocations_total{component="FaultyEndpoint",handler="count",outcome="Ok"}';
    expect(sample(counted)).toBe(0);
    expect(sample('svc_recorder_spans_recorded_total')).toBe(2);
    expect(sample('svc_shard_ends_total')).toBe(1);
    await service.post('/faulty/count/a/1');
    expect(sample(counted)).toBe(1);
    expect(sample('svc_recorder_spans_recorded_total')).toBe(4);
    expect(
      sample(
        'svc_http_requests_total{route="/faulty/count/{id}/{amount}",method="POST",status="200"}',
      ),
    ).toBe(2);
  });
});

test('faults and the limits that were met are counted', async () => {
  const service = await recordedService(faulty, {
    sections: { wasm: { handlerFuel: 1_000_000 } },
  });
  await fetch(`${service.url}/faulty/spin`);
  await service.post('/faulty/boom', { text: 'oh' });
  const samples = samplesOf(service.metrics.text());
  expect(samples.get('svc_guest_faults_total{cause="fuel"}')).toBe(1);
  expect(samples.get('svc_guest_faults_total{cause="trap"}')).toBe(1);
  expect(samples.get('svc_guest_limit_met_total{limit="handler-fuel"}')).toBe(1);
});

test('totals are the series by their names, without what falls and what is nothing', async () => {
  const service = await recordedService(faulty);
  await service.post('/faulty/count/a/1');
  // The journal's writer counts what it has confirmed.
  await expect.poll(() => service.metrics.totals()['svc_journal_events_total']).toBe(1);
  const totals = service.metrics.totals();
  expect(totals).toMatchObject({
    svc_recorder_spans_recorded_total: 2,
    svc_shards_listening: 1,
    svc_journal_events_total: 1,
    svc_shard_ends_total: 0,
    'svc_invocations_ended_total{kind="command",outcome="Ok"}': 1,
    'svc_invocation_seconds_count{kind="command"}': 1,
  });
  const names = Object.keys(totals);
  expect(names.filter((name) => /^svc_invocations_total|_sum\{component/.test(name))).toEqual([]);
  expect(names.filter((name) => name.includes('_bucket'))).toEqual([]);
  expect(names.filter((name) => name.includes('{') && totals[name] === 0)).toEqual([]);
  expect(service.metrics.endpointTotals().counts).toEqual([1, 0, 0, 0]);
});
