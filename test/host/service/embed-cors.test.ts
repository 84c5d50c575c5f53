// CORS of an embedded service: definitions declare what they want, settings limit what is allowed.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEndpoint,
  get,
  type LogEntry,
  put,
  respond,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';

const SHOP = 'https://shop.example.com';
const Note = Type.Object({ text: Type.String() });

const notes = defineEndpoint({
  prefix: '/notes',
  access: 'internet',
  cors: true,
  routes: {
    read: get('/{id}', { reply: Note }, ({ parameters }) =>
      respond({ text: parameters.id }, { headers: { 'access-control-allow-origin': '*' } }),
    ),
    write: put(
      '/{id}',
      { body: Note, reply: Note, cors: { origins: [SHOP], headers: ['Content-Type'] } },
      ({ body }) => body,
    ),
    purge: get('/purged', { access: 'local' }, () => {}),
  },
});

async function start(options: Partial<ServiceOptions>): Promise<Service> {
  const service = await createService({
    name: 'notes',
    endpoints: [notes],
    entities: [],
    journal: 'memory',
    http: false,
    log: 'none',
    ...options,
  } as ServiceOptions);
  onTestFinished(() => service.stop(0));
  return service;
}

const settings = { 'svc.http.cors.origins': [SHOP, 'https://blog.example.com'] } as const;

describe('an embedded service', () => {
  test('lets the pages of its settings read', async () => {
    const service = await start({ settings });
    const answer = await service.fetch('/notes/a', { headers: { origin: SHOP } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP);
    const stranger = await service.fetch('/notes/a', { headers: { origin: 'https://evil.test' } });
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();
    expect(stranger.headers.get('vary')).toBe('Origin');
  });

  test('lets a route ask for less', async () => {
    const service = await start({ settings });
    const preflight = async (path: string, method: string, origin: string) =>
      (
        await service.fetch(path, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': method },
        })
      ).headers;
    const allowed = await preflight('/notes/a', 'PUT', SHOP);
    expect(allowed.get('access-control-allow-headers')).toBe('content-type');
    const blog = await preflight('/notes/a', 'PUT', 'https://blog.example.com');
    expect(blog.get('access-control-allow-origin')).toBeNull();
    const local = await preflight('/notes/purged', 'GET', SHOP);
    expect(local.get('access-control-allow-origin')).toBeNull();
  });

  test('lets no page read without settings, whatever a handler says', async () => {
    const service = await start({});
    const answer = await service.fetch('/notes/a', { headers: { origin: SHOP } });
    expect(answer.status).toBe(200);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-'))).toEqual([]);
  });

  test('says so when origins are allowed in vain', async () => {
    const lines: LogEntry[] = [];
    const log = (line: LogEntry) => lines.push(line);
    const plain = defineEndpoint({ prefix: '/plain', access: 'internet', routes: notes.routes });
    await start({ settings, log });
    expect(lines).toEqual([]);
    const { write: _write, ...routes } = plain.routes;
    await start({ settings, log, endpoints: [{ ...plain, routes }] });
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(
          /^svc\.http\.cors\.origins .* a route does so with cors \(@cors in/,
        ),
      },
    ]);
  });

  test.each([
    [{ 'svc.http.cors.origins': ['https://shop.example.com/'] }, 'write https://shop.example.com'],
    [{ 'svc.http.cors.origins': SHOP }, 'takes a list of 0 to 100 texts'],
    [{ 'svc.http.cors.origins': ['*'], 'svc.http.cors.credentials': true }, 'Name the origins.'],
    [{ 'svc.http.cors.credentials': 'yes' }, 'takes true or false'],
  ])('refuses settings that cannot be: %j', async (wrong: object, problem) => {
    await expect(start({ settings: wrong })).rejects.toMatchObject({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining(problem),
    });
  });

  test.each([
    [{ cors: { origins: ['shop.example.com'] } }, '/0/cors/origins/0: must match'],
    [{ cors: { origins: ['https://shop.example.com/'] } }, 'must match'],
    [{ cors: { origins: ['https://shop.example.com:443'] } }, 'write https://shop.example.com'],
    [{ cors: true, access: 'local' }, 'CORS is for routes that the internet may call'],
  ])('refuses a definition that cannot be: %j', async (options, problem) => {
    const route = get('/', options as Parameters<typeof get>[1], () => {});
    const wrong = defineEndpoint({ prefix: '/a', access: 'internet', routes: { wrong: route } });
    await expect(start({ endpoints: [wrong] })).rejects.toMatchObject({
      code: 'SVC_DEFINITION_INVALID',
      message: expect.stringContaining(problem),
    });
  });
});
