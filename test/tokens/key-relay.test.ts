// The keys of a provider by the socket of a relay, as a runtime in a network of its own reads them: rotation, outages of the provider and of
// the relay, another provider.
import { statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LogEntry } from '@svc/kit/log-entry';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { VirtualClock } from '../../host/testing.ts';
import { AUTH_DEFAULTS } from '../../tokens/auth-section.ts';
import { KeyRelay } from '../../tokens/key-relay.ts';
import { PrincipalVerifier } from '../../tokens/principal-verifier.ts';
import { relayedKeys, relayPath } from '../../tokens/relayed-keys.ts';
import { TOKEN_FAULTS } from '../../tokens/token-fault.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let provider: IdentityProvider;
let socket: string;
let clock: VirtualClock;
let log: LogEntry[];

beforeEach(async () => {
  provider = await IdentityProvider.start();
  socket = join(temporaryFolder(), 'keys.sock');
  clock = new VirtualClock(Date.now());
  log = [];
});
afterEach(() => provider.stop());

async function relayOf(issuer: string, readTimeoutMs = 2000): Promise<KeyRelay> {
  const relay = await KeyRelay.listen(socket, { issuer, readTimeoutMs });
  onTestFinished(() => relay[Symbol.asyncDispose]());
  return relay;
}

/** Returns how a runtime judges a token. */
function verdicts(): (token: string) => Promise<string> {
  const { issuer, audience } = provider;
  const paths = { rolesPath: ['realm_access', 'roles'], scopesPath: ['scope'] };
  const verifier = new PrincipalVerifier({
    issuers: [{ issuer, audiences: [audience], ...paths }],
    section: AUTH_DEFAULTS,
    log: (entry) => log.push(entry),
    clock,
    fetchOf: (of) => relayedKeys(socket, of),
  });
  onTestFinished(() => verifier.close());
  return async (token) => {
    const outcome = await verifier.verify([`Bearer ${token}`]);
    return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
  };
}

const good = () => provider.issue({ subject: 'ada', lifetimeS: 100_000 });

async function ask(path: string): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  request({ socketPath: socket, path, agent: false })
    .on('response', (answer) =>
      text(answer).then((body) => resolve({ status: answer.statusCode!, body }), reject),
    )
    .on('error', reject)
    .end();
  return await promise;
}

test('a token counts by the keys of the relay, also one of a new key, and a foreign one does not', async () => {
  await relayOf(provider.issuer);
  const verdict = verdicts();
  const old = await good();
  expect(await verdict(old)).toBe('known');
  await provider.rotate();
  const fresh = await good();
  expect(await verdict(fresh)).toBe(TOKEN_FAULTS['unknown-key']);
  await clock.advance(5000);
  expect(await verdict(fresh)).toBe('known');
  expect(await verdict(old)).toBe(TOKEN_FAULTS['unknown-key']);
});

test('while the provider is down, its keys stay good, and the log has what the relay has found', async () => {
  await relayOf(provider.issuer);
  const verdict = verdicts();
  provider.fail({ status: 500 });
  expect(await verdict(await good())).toBe('unavailable');
  expect(log.map(({ message }) => message)).toEqual([
    expect.stringMatching(/openid-configuration answered 500 instead of 200\)\. Tokens whose key/),
  ]);
  provider.recover();
  await clock.advance(1000);
  expect(await verdict(await good())).toBe('known');
  provider.fail('resets');
  await clock.advance(AUTH_DEFAULTS.keysRefreshMs);
  expect(await verdict(await good())).toBe('known');
});

test('a provider that does not answer is one that is down, within the time of a read', async () => {
  await relayOf(provider.issuer, 100);
  provider.fail('hangs');
  expect(await ask(relayPath(provider.issuer))).toEqual({
    status: 503,
    body: expect.stringContaining('did not answer completely in time'),
  });
});

test('without a relay a token is answered as unavailable, and is good once it listens again', async () => {
  const verdict = verdicts();
  expect(await verdict(await good())).toBe('unavailable');
  expect(log[0]!.message).toContain(
    `${provider.issuer} could not be read (the control plane does not answer: ENOENT)`,
  );
  writeFileSync(socket, 'what another process has left');
  await relayOf(provider.issuer);
  await clock.advance(1000);
  expect(await verdict(await good())).toBe('known');
});

test('the keys of another provider are given to nobody who names the former one', async () => {
  const other = await IdentityProvider.start();
  onTestFinished(() => other.stop());
  await relayOf(other.issuer);
  expect(await verdicts()(await good())).toBe('unavailable');
  expect(log[0]!.message).toContain('has another identity provider');
  for (const path of ['/', '/keys', `/${other.issuer}`, `${relayPath(other.issuer)}/`])
    expect(await ask(path)).toMatchObject({ status: 404 });
  expect(other.reads).toEqual({ discovery: 0, keys: 0 });
});

test('requests at the same time lead to one read, and only its user reaches the socket', async () => {
  await relayOf(provider.issuer);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(relayPath(provider.issuer))),
  );
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 200, body: expect.stringContaining('"keys"') });
  expect(provider.reads.keys).toBeLessThan(20);
});
