// ManagementPart: what a deployed instance reports while its parts start, fail and stop.
import { expect, onTestFinished, test } from 'vitest';
import { ManagementPart } from '../../../host/introspection/management-part.ts';
import { INTROSPECTION_SETTING_NAMES } from '../../../host/service/settings.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import type { ServiceView } from '../../../host/introspection/service-view.ts';

/** A service whose parts the test controls. */
async function managementOf(http = true) {
  const module = Promise.withResolvers<void>();
  const journal = Promise.withResolvers<{
    failure: Promise<unknown>;
    problem: string | undefined;
  }>();
  const failure = Promise.withResolvers<void>();
  const serving = [false, false];
  const views: object[] = [];
  const configuration: { problem: string | undefined } = { problem: undefined };
  /** The journal, whose problem the test sets. */
  const state: { problem: string | undefined } = { problem: undefined };
  const log: LogEntry[] = [];
  const part = new ManagementPart({
    settings: { name: 'cart', http, port: 9000, names: INTROSPECTION_SETTING_NAMES },
    shards: { count: 2, serving },
    source: module.promise,
    journal: journal.promise,
    views: { read: () => views },
    configuration,
    metrics: { text: () => 'x 1\n' },
    log: (entry: LogEntry) => log.push(entry),
  } as unknown as ServiceView);
  onTestFinished(async () => part.close());
  await part.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${String(log[0]!.fields!['port'])}`;
  return {
    part,
    serving,
    state,
    views,
    configuration,
    admit: () => module.resolve(),
    openJournal: () =>
      journal.resolve({
        failure: failure.promise,
        get problem() {
          return state.problem;
        },
      }),
    failJournal: () => failure.resolve(),
    get: async (path: string) => fetch(url + path),
    /** Returns the status, and the reasons of the parts that are not ready. */
    ready: async () => {
      const answer = await fetch(`${url}/ready`);
      const { parts } = (await answer.json()) as {
        parts: { part: string; ready: boolean; reason?: string }[];
      };
      const not = parts.filter(({ ready }) => !ready);
      return [answer.status, Object.fromEntries(not.map((one) => [one.part, one.reason]))];
    },
  };
}

const away = (shards: number) => `${shards} of 2 do not serve.`;

async function served(http = true) {
  const around = await managementOf(http);
  around.admit();
  around.openJournal();
  around.serving.fill(true);
  around.part.served();
  expect(await around.ready()).toEqual([200, {}]);
  return around;
}

test('GET /ready names who does not agree while the instance starts, and GET /alive is 200', async () => {
  const { part, ready, get, admit, openJournal, serving } = await managementOf();
  const start = 'It has not ended yet.';
  const module = 'It is not admitted yet.';
  const journal = 'It is not open yet.';
  const http = 'No shard listens on port 9000.';
  expect(await ready()).toEqual([503, { module, journal, shards: away(2), start, http }]);
  expect((await get('/alive')).status).toBe(200);
  admit();
  expect(await ready()).toEqual([503, { journal, shards: away(2), start, http }]);
  openJournal();
  expect(await ready()).toEqual([503, { shards: away(2), start, http }]);
  // The port is bound once one shard listens on it.
  serving[1] = true;
  expect(await ready()).toEqual([503, { shards: away(1), start }]);
  serving[0] = true;
  expect(await ready()).toEqual([503, { start }]);
  part.served();
  expect(await ready()).toEqual([200, {}]);
});

test('views that do not answer are named, and do not keep requests away', async () => {
  const { ready, views } = await served();
  views.push(
    { view: 'orders', state: 'live', progress: 1 },
    { view: 'lines', state: 'building', progress: 0.429 },
    { view: 'sums', state: 'stopped', progress: 0.9 },
  );
  expect(await ready()).toEqual([
    200,
    { views: "'lines' is being built (42 %). 'sums' has stopped at an event." },
  ]);
});

test('with http false readiness does not wait for an HTTP server', async () => {
  const { get } = await served(false);
  const { parts } = (await (await get('/ready')).json()) as { parts: { part: string }[] };
  expect(parts.map(({ part }) => part)).not.toContain('http');
});

test('a shard that is started again makes the instance not ready, and back ready', async () => {
  const { ready, serving } = await served();
  serving[0] = false;
  expect(await ready()).toEqual([503, { shards: '1 of 2 do not serve.' }]);
  serving[0] = true;
  expect(await ready()).toEqual([200, {}]);
});

test('a journal that can store nothing for a while makes the instance not ready until it can', async () => {
  const { ready, state } = await served();
  state.problem = 'The database cannot be reached.';
  expect(await ready()).toEqual([503, { journal: state.problem }]);
  state.problem = undefined;
  expect(await ready()).toEqual([200, {}]);
});

test('a journal that can store nothing any more makes the instance not ready', async () => {
  const { ready, failJournal } = await served();
  failJournal();
  expect(await ready()).toEqual([503, { journal: 'It can store nothing any more.' }]);
});

test('from the moment of a stop the instance is not ready and leaves its cluster, but lives', async () => {
  const { ready, get, part } = await served();
  part.stopping();
  expect(await ready()).toEqual([
    503,
    { cluster: 'The instance leaves its cluster.', stopping: 'The instance is stopping.' },
  ]);
  expect(await (await get('/cluster/members')).json()).toMatchObject({
    members: [{ status: 'Leaving' }],
  });
  expect((await get('/alive')).status).toBe(200);
  await part.close();
  await expect(get('/alive')).rejects.toThrow('fetch failed');
});

test('a changed configuration that is not in use is reported, and the instance stays ready', async () => {
  const { ready, configuration } = await served();
  configuration.problem = "'days' is not a text";
  expect(await ready()).toEqual([
    200,
    {
      configuration: "Changed values are not in use, and those before are: 'days' is not a text.",
    },
  ]);
  configuration.problem = undefined;
  expect(await ready()).toEqual([200, {}]);
});
