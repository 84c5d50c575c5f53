// Compares the failures that the OpenAPI document lists for a route with the runtime's actual answers.
import { openApi } from '@svc/contract';
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { INTERNET } from '../../host/http/access.ts';
import {
  ask,
  descriptorOf,
  get,
  start,
  TEXT_BODY,
  BYTES_BODY,
  JSON_BODY,
} from '../host/http/http-harness.ts';
import { compileExample } from '../support/compile-fixture.ts';
import { describing } from '../support/open-api-document.ts';

const INFO = { title: 'routes', version: '1' };
const ALWAYS = ['500', '503', '504', 'default'];
const ROUTES = [
  ['GET', '/plain'],
  ['GET', '/by/{id}'],
  ['POST', '/none'],
  ['POST', '/json', JSON_BODY],
  ['POST', '/text', TEXT_BODY],
  ['POST', '/bytes', BYTES_BODY],
] as const;
const inner = { allow: 'services' } as const;

/** Returns the failures that the document lists for a route. */
function listed(
  descriptor: ReturnType<typeof descriptorOf>,
  method: string,
  path: string,
): string[] {
  const document = openApi(describing(descriptor), INFO);
  const paths = document['paths'] as Record<string, Record<string, { responses: object }>>;
  const { responses } = paths[path]![method.toLowerCase()]!;
  return Object.keys(responses).filter((status) => !/^[23]/.test(status));
}

const sent = (head: string, body = '', headers = '') =>
  `${head} HTTP/1.1\r\nhost: test\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const TYPE_JSON = 'content-type: application/json\r\n';
const TOO_LONG = `content-length: ${2 ** 21}\r\n\r\n`;

describe('a failure that the runtime answers by itself is listed', () => {
  const descriptor = descriptorOf(ROUTES);
  test.each([
    ['GET', '/by/{id}', get('/by/%FF'), 400],
    ['POST', '/none', sent('POST /none', '', 'idempotency-key: a b\r\n'), 400],
    ['POST', '/json', sent('POST /json', '', TYPE_JSON), 400],
    ['POST', '/json', sent('POST /json', 'x', 'content-type: text/plain\r\n'), 415],
    ['POST', '/json', `POST /json HTTP/1.1\r\nhost: test\r\n${TYPE_JSON}${TOO_LONG}`, 413],
    ['POST', '/text', sent('POST /text', 'x', TYPE_JSON), 415],
    ['POST', '/bytes', `POST /bytes HTTP/1.1\r\nhost: test\r\n${TOO_LONG}`, 413],
  ])('%s %s: %#', async (method, path, request, status) => {
    const { port } = await start({ descriptor });
    expect((await ask(port, request)).status).toBe(status);
    expect(listed(descriptor, method, path)).toContain(String(status));
  });

  test('403, where the access rule does not admit everybody', async () => {
    const closed = descriptorOf(ROUTES, inner);
    const { port } = await start({ descriptor: closed, caller: INTERNET });
    expect((await ask(port, get('/plain'))).status).toBe(403);
    expect(listed(closed, 'GET', '/plain')).toEqual(['403', ...ALWAYS]);
  });

  test('422, where a key was used for another request', async () => {
    const module = await testModule(await compileExample('02-counter'));
    const counters = testEndpoints(module);
    const headers = { 'idempotency-key': 'one' };
    expect((await counters.post('/counters/a', { by: 1 }, { headers })).status).toBe(200);
    expect((await counters.post('/counters/a', { by: 2 }, { headers })).status).toBe(422);
    expect(listed(module.descriptor, 'POST', '/counters/{id}')).toContain('422');
    expect(listed(module.descriptor, 'GET', '/counters/{id}')).not.toContain('422');
  });
});

test('no failure is listed that a route cannot be answered with', async () => {
  const descriptor = descriptorOf(ROUTES);
  expect(listed(descriptor, 'GET', '/plain')).toEqual(ALWAYS);
  expect(listed(descriptor, 'GET', '/by/{id}')).toEqual(['400', ...ALWAYS]);
  expect(listed(descriptor, 'POST', '/none')).toEqual(['400', '422', ...ALWAYS]);
  expect(listed(descriptor, 'POST', '/bytes')).toEqual(['400', '413', '422', ...ALWAYS]);
  // Bytes of any media type are accepted, the route is public, and a GET ignores idempotency keys.
  const { port } = await start({ descriptor, caller: INTERNET });
  expect((await ask(port, sent('POST /bytes', 'x', 'content-type: a/b\r\n'))).status).toBe(200);
  const keyed = get('/plain', 'idempotency-key: a b\r\n');
  expect((await ask(port, keyed)).status).toBe(200);
});
