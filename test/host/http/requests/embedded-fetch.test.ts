// Requests to an embedded service that cross no socket: what they are answered, whom they come from, and how a
// stop ends them.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createService,
  defineEndpoint,
  get,
  type LogEntry,
  post,
  respond,
  type ServiceOptions,
} from '../../../../host/embed.ts';

const held = Promise.withResolvers<void>();
const arrived = Promise.withResolvers<void>();
const endpoint = defineEndpoint({
  prefix: '/e',
  access: 'internet',
  routes: {
    sum: post(
      '/sum/{name}',
      {
        query: Type.Object({ by: Type.Optional(Type.Integer()) }),
        body: Type.Array(Type.Integer()),
        reply: 'text',
      },
      ({ parameters, query, body, header, caller }) =>
        respond(
          `${parameters.name} ${query.by} ${body.length} ${header('x-a')} ${header('content-length')} ${caller}`,
          {
            headers: [
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
            ],
          },
        ),
    ),
    nothing: get('/nothing', {}, () => {}),
    raw: post('/raw', { body: 'bytes', reply: 'text' }, ({ body }) =>
      Buffer.from(body).toString('hex'),
    ),
    mine: get('/mine', { access: 'nobody', reply: 'text' }, () => 'mine'),
    held: get('/held', { reply: 'text' }, async () => {
      arrived.resolve();
      await held.promise;
      return 'late';
    }),
    never: get('/never', {}, () => new Promise<void>(() => {})),
    fails: get('/fails', {}, () => {
      throw new Error('a secret');
    }),
  },
});

async function start(options: Partial<ServiceOptions> = {}) {
  const service = await createService({
    name: 'fetched',
    endpoints: [endpoint],
    http: false,
    log: 'none',
    ...options,
    journal: 'memory',
    dataFolder: undefined as never,
    database: undefined as never,
  });
  onTestFinished(() => service.stop(0));
  return service;
}

const send = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-a': 'yes' },
  body,
});

describe('a request of the program', () => {
  test('has the answer that it has over HTTP, and needs no address that is listened on', async () => {
    const service = await start();
    expect(service.url).toBeUndefined();
    const answer = await service.fetch('/e/sum/a%20b?by=3', send('[1,2]'));
    expect([answer.status, await answer.text()]).toEqual([200, 'a b 3 2 yes 5 local']);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    const whole = new Request('https://elsewhere.example/e/sum/c', send('[]'));
    expect(await (await service.fetch(whole)).text()).toBe('c undefined 0 yes 2 local');
    const bytes = { method: 'POST', body: new Uint8Array([0, 255]) };
    expect(await (await service.fetch(new URL('http://x/e/raw'), bytes)).text()).toBe('00ff');
  });

  test('is refused as over HTTP', async () => {
    const service = await start({ settings: { 'svc.http.body-bytes-max': 10 } });
    const status = async (path: string, init?: RequestInit) =>
      (await service.fetch(path, init)).status;
    expect(await status('/e/sum/a', send('["1"]'))).toBe(400);
    expect(await status('/e/sum/a', send(`[${'1,'.repeat(10)}1]`))).toBe(413);
    expect(await status('/e/sum/a', { method: 'POST', body: 'text' })).toBe(415);
    expect(await status('/e/nothing')).toBe(204);
    expect(await status('/elsewhere')).toBe(404);
    expect(await status('/e/fails')).toBe(500);
  });

  test('is of this machine, and of the internet when deployed', async () => {
    expect((await (await start()).fetch('/e/mine')).status).toBe(200);
    expect((await (await start({ deployed: true })).fetch('/e/mine')).status).toBe(403);
  });
});

describe('a stop', () => {
  test('waits for the requests under way, and takes none any more', async () => {
    const service = await start();
    const answer = service.fetch('/e/held');
    await arrived.promise;
    const stopped = service.stop();
    await expect(service.fetch('/e/nothing')).rejects.toMatchObject({ code: 'SVC_STOPPING' });
    held.resolve();
    expect(await (await answer).text()).toBe('late');
    await stopped;
  });

  test('cuts after its grace what does not end', async () => {
    const service = await start();
    const cut = service.fetch('/e/never').catch((error: unknown) => error);
    await service.stop(10);
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  });
});

test('a log of the program that throws ends no request', async () => {
  const lines: LogEntry[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => stderr.mockRestore());
  const service = await start({
    log: (line) => {
      lines.push(line);
      throw new Error('no room');
    },
  });
  expect((await service.fetch('/e/fails')).status).toBe(500);
  expect(lines).toMatchObject([{ level: 'warn', fields: { route: 'GET /e/fails' } }]);
  expect(stderr).toHaveBeenCalledWith('the log of the program lost a line: Error: no room\n');
});
