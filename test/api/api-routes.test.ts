// ApiRoutes with a table that is not the control plane's.
import { expect, test } from 'vitest';
import { startNotes } from './notes-api.ts';

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function send(url: string, line: string, json?: unknown): Promise<Answered> {
  const [method, path] = line.split(' ') as [string, string];
  const response = await fetch(`${url}/api/v1/tenants/${path}`, {
    method,
    headers: { authorization: 'Bearer ann' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

test('an answer has the status of its row, and headers of its handler', async () => {
  const url = await startNotes();
  const created = await send(url, 'POST acme/notes', { words: 'one' });
  expect(created).toMatchObject({ status: 201, body: { id: '1', words: 'one' } });
  expect(created.headers.get('location')).toBe('/api/v1/tenants/acme/notes/1');
  expect(created.headers.get('content-type')).toBe('application/json');
  const listed = await send(url, 'GET acme/notes?limit=1');
  expect(listed).toMatchObject({ status: 200, body: [{ id: '1' }] });
  expect(listed.headers.get('link')).toBe('</api/v1/tenants/acme/notes?limit=1>; rel="next"');
  expect(await send(url, 'POST acme/notes/1/send')).toMatchObject({ status: 202 });
  expect(await send(url, 'DELETE acme/notes/1')).toMatchObject({ status: 204, body: undefined });
});

test('a merge patch tells null from absent', async () => {
  const url = await startNotes();
  await send(url, 'POST acme/notes', { words: 'one' });
  const change = async (json: unknown) => await send(url, 'PATCH acme/notes/1', json);
  expect(await change({})).toMatchObject({ status: 200, body: { words: 'one' } });
  expect(await change({ words: null })).toMatchObject({ status: 200, body: { words: '' } });
  expect(await change({ word: 'two' })).toMatchObject({ status: 400 });
});

test('every problem of path, query and body is in one answer, by the schemas of the table', async () => {
  const url = await startNotes();
  const { status, body } = await send(url, 'PATCH ACME/notes/x', { words: 1, more: true });
  expect(status).toBe(400);
  const { error } = body as { readonly error: string };
  expect(error.split('\n').map((line) => line.split(':')[0])).toEqual([
    'body',
    'noteId',
    'tenantId',
    'words',
  ]);
  expect(await send(url, 'GET acme/notes?limit=3')).toMatchObject({ status: 400 });
  expect(await send(url, 'GET acme/notes?cursor=1')).toMatchObject({ status: 400 });
});

test('a refusal that may end is 503, another one has the status of its code', async () => {
  const url = await startNotes();
  const busy = await send(url, 'POST acme/notes/9/send');
  expect(busy).toMatchObject({ status: 503, body: { error: 'another one is being sent' } });
  expect(busy.headers.get('retry-after')).toBe('1');
  expect(await send(url, 'DELETE acme/notes/2')).toMatchObject({ status: 404 });
});

test('a request without a token reads how to get one', async () => {
  const url = await startNotes();
  const response = await fetch(`${url}/api/v1/tenants/acme/notes`);
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
  expect(await response.text()).toContain('ask an administrator for one');
});

test('writes have a limit beside that of all requests of a caller', async () => {
  const url = await startNotes({ requestsPerMinuteMax: 0, writesPerMinuteMax: 1 });
  const statuses = [];
  for (const line of ['DELETE acme/notes/1', 'DELETE acme/notes/1', 'GET acme/notes'])
    statuses.push((await send(url, line)).status);
  expect(statuses).toEqual([404, 429, 200]);
});
