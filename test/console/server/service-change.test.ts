// Changes that the page asks for: they reach the control socket of the service, and only from the page itself.
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ControlRequest } from '../../../host/control/control-request.ts';
import { ControlServer } from '../../../host/control/control-server.ts';
import { makeControlSocket } from '../../../kit/control-socket.ts';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { StandInService } from '../support/stand-in-service.ts';

const OWN = { 'content-type': 'application/json', 'x-svc-console': '1' };
const CANCEL = '{"owner":null,"name":"nightly"}';

/** A console and a service whose description names `control`. */
async function consoleOf(control: string | null) {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder, described: { control } });
  const path = `/api/services/${service.instanceId}/control`;
  const post = (what: string, body: string, headers: Readonly<Record<string, string>> = OWN) =>
    served.ask(path + what, { method: 'POST', headers, body });
  return { served, path, post };
}

async function controlSocket(): Promise<{ socket: string; requests: ControlRequest[] }> {
  const socket = makeControlSocket()!;
  const requests: ControlRequest[] = [];
  const server = new ControlServer({
    service: {
      views: () => [],
      async change(request) {
        requests.push(request);
        return true;
      },
    },
    log: () => {},
  });
  await server.listen(socket);
  onTestFinished(async () => {
    await server.close();
    rmSync(dirname(socket), { recursive: true, force: true });
  });
  return { socket, requests };
}

test('a change reaches the control socket, whose answer the page gets', async () => {
  const { socket, requests } = await controlSocket();
  const { post } = await consoleOf(socket);
  expect(await post('/timers/cancel', CANCEL)).toMatchObject({
    status: 200,
    json: { changed: true },
  });
  expect(requests).toEqual([{ kind: 'cancel-timer', owner: null, name: 'nightly' }]);
  expect(await post('/timers/cancel', '{"owner":null}')).toMatchObject({ status: 400 });
});

test.each([
  ['without the header of the page', { 'content-type': 'application/json' }, 403],
  ['as a form', { 'x-svc-console': '1', 'content-type': 'text/plain' }, 403],
  ['by a page of another origin', { ...OWN, origin: 'http://evil.example' }, 403],
  ['by a page of another site', { ...OWN, 'sec-fetch-site': 'cross-site' }, 403],
  ['under another host name', { ...OWN, host: 'evil.example' }, 403],
])('a change that is sent %s is refused', async (_how, headers, status) => {
  const { socket, requests } = await controlSocket();
  const { post } = await consoleOf(socket);
  expect(await post('/timers/cancel', CANCEL, headers)).toMatchObject({ status });
  expect(requests).toEqual([]);
});

test('other methods, paths and bodies are refused', async () => {
  const { socket, requests } = await controlSocket();
  const { served, path, post } = await consoleOf(socket);
  expect(await served.ask(`${path}/timers/cancel`)).toMatchObject({ status: 405 });
  expect(await served.ask(path, { method: 'POST', headers: OWN, body: CANCEL })).toMatchObject({
    status: 404,
  });
  for (const other of ['/views', '/timers/set', '/../timers/cancel', '/timers/cancel/'])
    expect(await post(other, CANCEL)).toMatchObject({ status: 404 });
  for (const body of ['', '{', 'null', '7'])
    expect(await post('/timers/cancel', body)).toMatchObject({ status: 400 });
  const large = JSON.stringify({ owner: null, name: 'x'.repeat(70_000) });
  expect(await post('/timers/cancel', large)).toMatchObject({ status: 413 });
  expect(requests).toEqual([]);
});

test.each([
  [null, 409, 'has no control socket'],
  ['/var/run/docker.sock', 502, 'not the path of a control socket'],
  ['/tmp/svc-000000/control.sock', 502, 'does not exist'],
])('a service whose socket is %s is not changed', async (control, status, why) => {
  const { post, served } = await consoleOf(control);
  const answer = await post('/timers/cancel', CANCEL);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(why);
  expect(served.bugs).toEqual([]);
});
