// The metrics of the control plane: what its page lists, and what an operator reads when the provider or the orchestrator fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ApiUnderTest, idleOrchestrator } from './endpoints/api-under-test.ts';

const PAGE = join(import.meta.dirname, '../../docs/reference/metrics.md');
const ADDRESSES = { http: { port: 0 }, management: { port: 0 } } as const;

/** Returns the lines of a scrape, without comments. */
async function scrape(api: ApiUnderTest): Promise<readonly string[]> {
  const response = await fetch(`${api.service.managementUrl!}/svc/metrics`);
  return (await response.text()).split('\n').filter((line) => line !== '');
}

test('the page lists each series of the control plane with its type and label, and no other', async () => {
  await using api = await ApiUnderTest.start({}, { journal: 'memory', ...ADDRESSES });
  await api.done('GET /auth/whoami', { as: 'ann' });
  const lines = await scrape(api);
  const types = lines.map((line) => /^# TYPE (control_plane_\w+) (\w+)$/.exec(line));
  const series = types.flatMap((found) => {
    if (found === null) return [];
    const [, name, type] = found;
    const labels = lines.flatMap((line) => /^(\w+)\{(\w+)=/.exec(line)?.slice(1) ?? []);
    const label = labels[labels.indexOf(name!) + 1];
    return [`${name} ${type} ${labels.includes(name!) ? label : ''}`];
  });
  const rows = readFileSync(PAGE, 'utf8').matchAll(
    /^\| `(control_plane_\w+)` \| (\w+) \| (?:`(\w+)`)? ?\|/gm,
  );
  expect([...rows].map(([, name, type, label = '']) => `${name} ${type} ${label}`)).toEqual(series);
  expect(series).toHaveLength(6);
});

test('an orchestrator that fails is in the metrics, and refusals are by their status', async () => {
  const orchestrator = idleOrchestrator({
    observe: () => Promise.reject(new Error('connect ECONNREFUSED')),
  });
  await using api = await ApiUnderTest.start({}, { journal: 'memory', ...ADDRESSES }, orchestrator);
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const json = { name: 'Web', organizationId: 'shop' };
  await api.done('POST /projects/web', { as: 'ann', json });
  await api.done('PUT /services/web/cart', { as: 'ann', json: { name: 'cart', image: 'it:1' } });
  await expect
    .poll(() => scrape(api))
    .toContain('control_plane_reconcile_services{state="failed"} 1');
  await api.refusal('GET /projects/web', { as: 'eve' });
  await api.refusal('GET /projects/web');
  const lines = await scrape(api);
  expect(lines).toContain('control_plane_observations_failing 1');
  expect(lines).toContain('control_plane_reconcile_wait_seconds 0');
  expect(lines).toContain('control_plane_provider_readable 1');
  expect(
    lines.find((line) => line.startsWith('control_plane_orchestrator_failures_total')),
  ).toMatch(/ [1-9]/);
  for (const status of [401, 404])
    expect(lines).toContain(
      `svc_http_requests_total{route="/projects/{projectId}",method="GET",status="${status}"} 1`,
    );
});

test('each request to the orchestrator that fails is counted once, and no other', async () => {
  const asked: string[] = [];
  const fail = (request: string) => () => {
    asked.push(request);
    return Promise.reject(new Error('connect ECONNREFUSED'));
  };
  const orchestrator = idleOrchestrator({
    problems: fail('problems'),
    reconcile: fail('reconcile'),
    observe: fail('observe'),
    logs: fail('logs'),
  });
  await using api = await ApiUnderTest.start({}, { journal: 'memory', ...ADDRESSES }, orchestrator);
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const json = { name: 'Web', organizationId: 'shop' };
  await api.done('POST /projects/web', { as: 'ann', json });
  await api.done('PUT /services/web/cart', { as: 'ann', json: { name: 'cart', image: 'it:1' } });
  await api.send('GET /services/web/cart/logs', { as: 'ann' });
  const wanted = ['problems', 'logs', 'observe'];
  await expect.poll(() => wanted.filter((request) => !asked.includes(request))).toEqual([]);
  const counted = async () => {
    const before = asked.length;
    const lines = await scrape(api);
    // Otherwise the queue has asked meanwhile.
    return asked.length === before
      ? lines.includes(`control_plane_orchestrator_failures_total ${before}`)
      : undefined;
  };
  await expect.poll(counted).toBe(true);
});

test('a provider that does not answer is in the metrics, with the age of its keys', async () => {
  await using api = await ApiUnderTest.start({}, { journal: 'memory', ...ADDRESSES });
  const token = await api.token('ann');
  await api.provider.stop();
  expect((await api.send('GET /auth/whoami', { token })).status).toBe(503);
  const lines = await scrape(api);
  expect(lines).toContain('control_plane_provider_readable 0');
  expect(lines.filter((line) => line.startsWith('control_plane_provider_keys_age'))).toEqual([]);
});
