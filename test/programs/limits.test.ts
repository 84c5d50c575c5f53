// `svc run` with a module that has limits of requests: however many shards serve it, together they let through what one does.
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFoldersOfFile } from '../support/temporary-folder.ts';

const newFolder = temporaryFoldersOfFile();
const QUOTE = { 'content-type': 'text/plain' };

let provider: IdentityProvider;
let module: string;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  module = join(newFolder(), 'limited.wasm');
  writeFileSync(module, await compileFixture('limited'));
});
afterAll(() => provider.stop());

interface Answered {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Sends a request on a connection of its own, which any of the shards may get. */
function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  from = '127.0.0.1',
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const agent = new Agent({ keepAlive: false });
  const sent = request(url, { method, headers, agent, localAddress: from }, (answer) => {
    answer.resume();
    answer.on('end', () =>
      resolve({ status: answer.statusCode!, retryAfter: answer.headers['retry-after'] }),
    );
  });
  sent.on('error', reject);
  sent.end(method === 'POST' ? 'a book' : undefined);
  return promise;
}

function counted(answers: readonly Answered[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each([1, 2])('a service of %i shards', (shards) => {
  let service: SvcProcess;
  let url: string;

  beforeAll(async () => {
    service = new SvcProcess([
      'run',
      module,
      '--port',
      '0',
      '--data',
      newFolder(),
      '--shards',
      String(shards),
      '--set',
      `svc.auth.issuer=${provider.issuer}`,
      '--set',
      `svc.auth.audience=${provider.audience}`,
    ]);
    url = await service.listening();
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  });

  test('lets exactly as many requests of all callers through as its route may take', async () => {
    const sent = Array.from({ length: 40 }, () => send(`${url}/quotes`, 'POST', QUOTE));
    const answers = await Promise.all(sent);
    expect(counted(answers)).toEqual({ 200: 3, 429: 37 });
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.every(({ retryAfter }) => Number(retryAfter) > 1_100)).toBe(true);
  });

  test('counts each subject by itself, and no bad token', async () => {
    const order = async (subject: string) => ({
      ...QUOTE,
      authorization: `Bearer ${await provider.issue({ subject })}`,
    });
    const [ada, bob] = [await order('ada'), await order('bob')];
    const bad = { ...QUOTE, authorization: 'Bearer x' };
    const refused = Array.from({ length: 10 }, () => send(`${url}/orders`, 'POST', bad));
    expect(counted(await Promise.all(refused))).toEqual({ 401: 10 });
    const begunMs = performance.now();
    const sent = Array.from({ length: 20 }, () => send(`${url}/orders`, 'POST', ada));
    const { 200: passed = 0, ...others } = counted(await Promise.all(sent));
    // A token comes back every 12 seconds.
    const returned = Math.floor((performance.now() - begunMs) / 12_000) + 1;
    expect(passed).toBeGreaterThanOrEqual(5);
    expect(passed).toBeLessThanOrEqual(5 + returned);
    expect(Object.keys(others)).toEqual(['429']);
    expect(await send(`${url}/orders`, 'POST', bob)).toMatchObject({ status: 200 });
  });

  test('counts each address by itself, and no header makes another one', async () => {
    const begunMs = performance.now();
    const sent = Array.from({ length: 100 }, (_, at) =>
      send(`${url}/quotes/a`, 'GET', { 'x-forwarded-for': `203.0.113.${at}` }, '127.0.0.2'),
    );
    const { 200: passed = 0, 429: refused = 0 } = counted(await Promise.all(sent));
    const returned = Math.floor((performance.now() - begunMs) / 1_000) + 1;
    expect(passed + refused).toBe(100);
    expect(passed).toBeGreaterThanOrEqual(60);
    expect(passed).toBeLessThanOrEqual(60 + returned);
    expect(await send(`${url}/quotes/a`, 'GET', {}, '127.0.0.3')).toMatchObject({ status: 200 });
  });
});
