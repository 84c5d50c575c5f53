// Calls and requests that shards of a real service send each other: with their keys and traces, their failures and their
// limits, and past the ends of shards.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { stuckRequest } from '../support/stuck-request.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
/** Of all three lengths that a character may have. */
const IDS = ['c', 'é', '€', '🛒'].flatMap((letter) =>
  Array.from({ length: 4 }, (_, index) => `${letter}${index}`),
);

beforeAll(async () => {
  for (const name of ['counter', 'faulty'])
    writeFileSync(join(folder, `${name}.wasm`), await compileFixture(name));
});

const traceIdOf = (id: string) => id.slice(-1).padStart(32, 'a');

const linesOf = ({ stderr }: SvcProcess): Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const countsOf = (svc: SvcProcess) =>
  linesOf(svc).find(({ message }) => message === 'limits met since the start');

async function serve(name: string, settings: readonly string[] = []) {
  const svc = new SvcProcess([
    'run',
    join(folder, `${name}.wasm`),
    '--port',
    '0',
    '--data',
    join(folder, name),
    '--log',
    'json',
    '--shards',
    '2',
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, url: await svc.listening() };
}

test('a request that comes over many connections at once is done once, and its trace goes with it', async () => {
  const { svc, url } = await serve('counter');
  const add = async (
    id: string,
    body = '{"amount":5}',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    const response = await fetch(`${url}/counters/${id}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'k',
        traceparent: `00-${traceIdOf(id)}-00f067aa0ba902b7-01`,
        ...headers,
      },
      body,
    });
    return `${response.status} ${await response.text()}`;
  };
  // Each connection belongs to a shard, and half of the entities to the other one.
  const answers = await Promise.all(IDS.flatMap((id) => Array.from({ length: 8 }, () => add(id))));
  expect(new Set(answers)).toEqual(new Set(['200 {"value":5}']));
  // By now whole requests are sent; those that are long are not, and their calls are.
  const again = IDS.flatMap((id) => [
    add(id),
    add(id, `{"amount":5${' '.repeat(5_000)}}`),
    add(id, '{"amount":5}', { cookie: 'x'.repeat(5_000) }),
    add(id, '{"amount":5}', { 'x-name': 'é' }),
  ]);
  expect(new Set(await Promise.all(again))).toEqual(new Set(['200 {"value":5}']));
  expect((await svc.end('SIGTERM')).code).toBe(0);
  const database = new DatabaseSync(join(folder, 'counter', 'journal.sqlite'), { readOnly: true });
  const events = database
    .prepare("SELECT concat_ws(' ', id, seq, trace) AS event FROM journal JOIN entity USING (eno)")
    .all()
    .map(({ event }) => event);
  database.close();
  expect(new Set(events)).toEqual(new Set(IDS.map((id) => `${id} 1 ${traceIdOf(id)}`)));
});

test('while shards end again and again, what is repeated with its key until it is answered is done once', async () => {
  const { svc, url } = await serve('faulty', [
    'svc.wasm.handler-fuel=2000000000',
    'svc.supervisor.heartbeat-ms=20',
    'svc.supervisor.hang-after-ms=200',
    'svc.supervisor.restart-pause-ms=1',
    'svc.supervisor.restart-pause-max-ms=1',
  ]);
  // A failure is answered, told and counted once, whoever of the two ran the handler. On a slow machine a shard may be
  // ended already here, and then it is asked again.
  const boom = async (id: string): Promise<string> => {
    const path = `${url}/faulty/entity/${id}/boom`;
    const response = await fetch(path, { method: 'POST' }).catch(() => undefined);
    if (response?.status !== 500) return boom(id);
    return ((await response.json()) as { readonly errorId: string }).errorId;
  };
  const errorIds = await Promise.all([...IDS, ...IDS].map(boom));
  const outcomes = new Set<string>();
  /** Asks until it is answered with 200. */
  const count = async (id: string, amount: number, key: string): Promise<unknown> => {
    for (;;)
      try {
        const response = await fetch(`${url}/faulty/count/${id}/${amount}`, {
          method: 'POST',
          headers: { 'idempotency-key': key },
        });
        const answer = (await response.json()) as { readonly count?: number };
        outcomes.add(String(response.status));
        if (response.status === 200) return answer.count;
      } catch {
        outcomes.add('cut');
      }
  };
  const returns = () => svc.stderr.match(/"message":"the service is served again"/g)?.length ?? 0;
  const stopped = new AbortController();
  const done = new Map(IDS.map((id) => [id, 0]));
  const callers = IDS.map(async (id) => {
    for (let turn = 1; !stopped.signal.aborted; turn++) {
      expect(await count(id, 1, `${turn}`)).toBe(turn);
      done.set(id, turn);
    }
  });
  // Until one of them has ended with a call of the other under way, at least: which connections it has is chance.
  for (let ends = 1; ends <= 3 || !outcomes.has('504'); ends++) {
    const before = returns();
    while (returns() === before) await fetch(`${url}/faulty/spin`).catch(() => {});
  }
  stopped.abort();
  await Promise.all(callers);
  for (const [id, times] of done) expect(await count(id, 0, 'last')).toBe(times);
  expect(
    [...outcomes].filter((outcome) => !['200', '503', '504', 'cut'].includes(outcome)),
  ).toEqual([]);
  const { code, stderr } = await svc.end('SIGTERM');
  expect(code).toBe(0);
  const logged = linesOf(svc).flatMap(({ errorId }) => errorId ?? []);
  for (const errorId of errorIds) expect(logged.filter((id) => id === errorId)).toHaveLength(1);
  const booms = stderr.match(/abort: boom/g)!.length;
  expect(booms).toBeGreaterThanOrEqual(errorIds.length);
  expect(countsOf(svc)).toMatchObject({ 'fault:trap': booms });
});

test('a request that is not done in time has met its limit once, whoever of the shards ran its handler; one that the stop cuts is reported', async () => {
  const { svc, url } = await serve('faulty', [
    'svc.http.answer-timeout-ms=30',
    'svc.supervisor.stop-grace-ms=1',
  ]);
  let lateCount = 0;
  const late = async (id: string, calls = 900): Promise<number> => {
    const path = `${url}/faulty/count-with-calls/${id}/${calls}`;
    const { status } = await fetch(path, { method: 'POST' });
    if (status === 504) lateCount++;
    return status;
  };
  // With one call, after which both know where requests of the route are to be sent.
  await Promise.all([...IDS, ...IDS].map(async (id) => late(id, 0)));
  for (let times = 0; times < 2; times++)
    expect(new Set(await Promise.all(IDS.map(async (id) => late(id))))).toEqual(new Set([504]));
  const release = await stuckRequest(`${url}/faulty/boom`);
  const { code, stderr } = await svc.end('SIGTERM');
  await release();
  expect(code).toBe(0);
  expect(stderr).toContain('stopped, and cut what did not finish in time');
  expect(countsOf(svc)).toMatchObject({
    'fault:time': lateCount,
    'limit:request-time': lateCount,
    'failure:SVC_ANSWER_TIMED_OUT': lateCount,
  });
});
