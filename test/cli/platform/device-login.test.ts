// The device flow with a provider that fails between the questions of the command line.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logInWithDevice } from '../../../cli/platform/device-login.ts';
import { platformFetch } from '../../../cli/platform/platform-fetch.ts';
import { connectProvider } from '../../../cli/platform/provider-connection.ts';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));

/** Starts a provider whose token endpoint gives the answers in turn, and logs in. */
async function logIn(answers: readonly Answer[], device: object = {}) {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  let asked = 0;
  const server = createServer((request, response) => {
    const issuer = `http://${request.headers.host}`;
    if (request.url === '/.well-known/openid-configuration')
      json(200, {
        issuer,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
      })(response);
    else if (request.url === '/device')
      json(200, {
        device_code: 'device',
        user_code: 'AB\u001b[2J',
        verification_uri: `${issuer}/enter`,
        expires_in: 60,
        interval: 0.001,
        ...device,
      })(response);
    else answers[asked++]!(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = platformFetch({ platformUrl: issuer, authority: undefined });
  const connection = await connectProvider({ issuer, clientId: 'cli' }, fetch);
  const tokens = await logInWithDevice(connection, 'https://api.test');
  return { tokens, written: written.mock.calls.flat().join(''), asked };
}

const TOKENS = json(200, { access_token: 'given', token_type: 'Bearer', expires_in: 300 });

test('the command asks again after a failure of the provider or a lost connection', async () => {
  const { tokens, written, asked } = await logIn([
    json(500, {}),
    (response) => void response.socket!.destroy(),
    TOKENS,
  ]);
  expect({ token: tokens.access_token, asked }).toEqual({ token: 'given', asked: 3 });
  expect(written).toContain(String.raw`enter the code AB\u{1b}[2J`);
});

test('a refusal of the person, and a code that has expired, end the login', async () => {
  const denied = logIn([json(400, { error: 'access_denied', error_description: 'no\nno' })]);
  await expect(denied).rejects.toMatchObject({
    code: 'SVC_LOGIN_FAILED',
    message: expect.stringContaining('access_denied') as string,
  });
  const expired = logIn([json(400, { error: 'authorization_pending' })], { expires_in: 1 });
  await expect(expired).rejects.toMatchObject({
    code: 'SVC_LOGIN_FAILED',
    message: expect.stringContaining('before it expired') as string,
  });
});
