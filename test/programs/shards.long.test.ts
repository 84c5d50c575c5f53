// A service of several shards: real processes under load, stopped, and with a shard that hangs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const ENTITIES = 60;

beforeAll(async () => {
  for (const name of ['counter', 'faulty'])
    writeFileSync(join(folder, `${name}.wasm`), await compileFixture(name));
});

async function serve(
  name: string,
  data: string,
  shards: number,
  settings: readonly string[] = [],
  port = 0,
) {
  const svc = new SvcProcess([
    'run',
    join(folder, `${name}.wasm`),
    '--port',
    String(port),
    '--data',
    join(folder, data),
    '--log',
    'json',
    '--shards',
    String(shards),
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, url: await svc.listening() };
}

/** Events by entity, and whether places and sequence numbers are without holes. */
function journal(data: string) {
  const database = new DatabaseSync(join(folder, data, 'journal.sqlite'), { readOnly: true });
  const places = database
    .prepare('SELECT count(*) AS count, max(pos) - min(pos) + 1 AS span FROM journal')
    .get()!;
  const entities = database
    .prepare(
      'SELECT id, count(*) AS events, max(seq) AS last FROM journal JOIN entity USING (eno) GROUP BY eno',
    )
    .all();
  database.close();
  return {
    events: new Map(entities.map(({ id, events }) => [String(id), Number(events)])),
    hasHoles:
      places['count'] !== places['span'] || entities.some(({ events, last }) => events !== last),
  };
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

/** What one entity has been asked to add, one at a time, and what of it was confirmed. */
class Tally {
  asked = 0;
  confirmed = 0;
}

const tallies = () =>
  new Map(Array.from({ length: ENTITIES }, (_, index) => [`c${index}`, new Tally()]));

async function add(url: string, id: string, tally: Tally): Promise<Response> {
  tally.asked += 1;
  const response = await fetch(`${url}/counters/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":1}',
  });
  if (response.status === 200) tally.confirmed += 1;
  return response;
}

describe.each([2, 3])('a service of %i shards', (shards) => {
  test('answers every request as one shard would, and its journal has no holes', async () => {
    const data = `load-${shards}`;
    const { svc, url } = await serve('counter', data, shards);
    const all = [...tallies()];
    let requests = 0;
    const caller = async (offset: number) => {
      while (requests < 1_200) {
        const turn = requests++;
        const [id, tally] = all[(turn * 7 + offset) % ENTITIES]!;
        const before = tally.confirmed;
        const response =
          turn % 3 === 0 ? await fetch(`${url}/counters/${id}`) : await add(url, id, tally);
        expect(response.status).toBe(200);
        const { value } = (await response.json()) as { readonly value: number };
        // Nothing confirmed is missing, and nothing was made up.
        expect(value).toBeGreaterThanOrEqual(before);
        expect(value).toBeLessThanOrEqual(tally.asked);
      }
    };
    await Promise.all(Array.from({ length: 24 }, async (_, offset) => caller(offset)));
    for (const [id, { confirmed }] of all)
      expect(await (await fetch(`${url}/counters/${id}`)).json()).toEqual({ value: confirmed });
    expect((await svc.end('SIGTERM')).code).toBe(0);
    const { events, hasHoles } = journal(data);
    expect(hasHoles).toBe(false);
    // Chance may give an entity nothing but reads: such a one has no event.
    const added = all.filter(([, { confirmed }]) => confirmed > 0);
    expect(events).toEqual(new Map(added.map(([id, { confirmed }]) => [id, confirmed])));
  });
});

test('a stop under load cuts nobody, and what was answered is stored', async () => {
  const { svc, url } = await serve('counter', 'stopped', 2);
  const all = [...tallies()];
  const statuses = new Set<number>();
  let unanswered = 0;
  const stopped = new AbortController();
  const caller = async (offset: number) => {
    for (let turn = offset; !stopped.signal.aborted; turn += 7) {
      const [id, tally] = all[turn % ENTITIES]!;
      try {
        statuses.add((await add(url, id, tally)).status);
      } catch {
        // Its connection was closed while it was idle, or nobody listens any more.
        unanswered++;
      }
      if (turn - offset === 7 * 40) stop();
    }
  };
  const { promise: toStop, resolve: stop } = Promise.withResolvers<void>();
  const callers = Array.from({ length: 24 }, async (_, offset) => caller(offset));
  await toStop;
  const ended = await svc.end('SIGTERM');
  stopped.abort();
  await Promise.all(callers);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(/"message":"stopped"/);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const { events, hasHoles } = journal('stopped');
  expect(hasHoles).toBe(false);
  const stored = sum(events.values());
  const confirmed = sum(all.map(([, tally]) => tally.confirmed));
  expect(stored).toBeGreaterThanOrEqual(confirmed);
  expect(stored).toBeLessThanOrEqual(confirmed + unanswered);
});

test('while one shard hangs and comes back, the others serve their entities', async () => {
  const { svc, url } = await serve('faulty', 'hangs', 2, [
    // As much as there can be: seconds.
    'svc.wasm.handler-fuel=2000000000',
    'svc.supervisor.heartbeat-ms=20',
    'svc.supervisor.hang-after-ms=400',
    'svc.supervisor.restart-pause-ms=3000',
  ]);
  const all = [...tallies()];
  const retriedAfter = new Set<string | null>();
  const count = async ([id, tally]: readonly [string, Tally]) => {
    tally.asked += 1;
    try {
      const response = await fetch(`${url}/faulty/count/${id}/1`, { method: 'POST' });
      const { error = '' } = (await response.json()) as { readonly error?: string };
      if (response.status === 200) tally.confirmed += 1;
      if (response.status === 503) retriedAfter.add(response.headers.get('retry-after'));
      return `${response.status} ${/SVC_\w+/.exec(error)?.[0] ?? ''}`.trim();
    } catch {
      return 'cut';
    }
  };
  const countAll = async () => new Set(await Promise.all(all.map(count)));
  expect(await countAll()).toEqual(new Set(['200']));

  const spinning = fetch(`${url}/faulty/spin`).catch(() => 'cut');
  const underWay = new Set<string>();
  while (!svc.stderr.includes('did not answer'))
    for (const outcome of await countAll()) underWay.add(outcome);
  expect(await spinning).toBe('cut');
  // Of calls that were on their way to it nobody knows.
  const expected = ['200', 'cut', '503 SVC_SHARD_UNAVAILABLE', '504 SVC_CALL_UNCERTAIN'];
  expect(underWay.difference(new Set(expected))).toEqual(new Set());

  const meanwhile = await countAll();
  expect(svc.stderr).not.toContain('is served again');
  expect([...meanwhile]).toEqual(expect.arrayContaining(['200', '503 SVC_SHARD_UNAVAILABLE']));
  // Callers learn of the pause.
  expect(Math.max(...[...retriedAfter].map(Number))).toBeGreaterThan(1);

  await svc.logged(/"message":"the service is served again"/);
  for (const entity of all) {
    while ((await count(entity)) !== '200');
    const [id, { asked, confirmed }] = entity;
    const answer = await fetch(`${url}/faulty/count/${id}/0`, { method: 'POST' });
    const { count: now } = (await answer.json()) as { readonly count: number };
    expect(now).toBeGreaterThanOrEqual(confirmed);
    expect(now).toBeLessThanOrEqual(asked);
  }
  const { code, stderr } = await svc.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toMatch(/"shard-ends":1,"shard-hangs":1/);
  expect(journal('hangs').hasHoles).toBe(false);
});

test('a second host on the port of the first is refused, though shards share theirs', async () => {
  const { url } = await serve('counter', 'first', 2);
  const port = Number(new URL(url).port);
  await expect(serve('counter', 'second', 2, [], port)).rejects.toThrow(
    /^it ended before it listened:\nsvc: [^\n]+ \[SVC_PORT_IN_USE\]\n$/,
  );
  expect((await fetch(`${url}/counters/a`)).status).toBe(200);
});
