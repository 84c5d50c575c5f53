// Credentials for the API server: read again when others replace them, renewed once when the server refuses them, and never in a message.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AccessUser } from '../../../../control-plane/kubernetes/credentials/cluster-access.ts';
import {
  ClusterCredentials,
  CREDENTIALS_PAUSE_MS,
} from '../../../../control-plane/kubernetes/credentials/cluster-credentials.ts';
import { CertificateAuthority } from '../../../support/certificates/certificate-authority.ts';
import {
  answerJson,
  ScriptedApi,
  scriptedObject,
  statusObject,
} from '../../../support/kubernetes/scripted-api.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SECRET = 'secret-token-of-the-test';
const NOBODY: AccessUser = {
  token: undefined,
  tokenFile: undefined,
  pair: undefined,
  plugin: undefined,
};

function credentialsOf(user: Partial<AccessUser>, timeoutMs = 10_000) {
  const stopping = new AbortController();
  let monotonicMs = 0;
  const nowMs = Date.now();
  const clock = {
    nowMs: () => nowMs + monotonicMs,
    monotonicMs: () => monotonicMs,
    after: () => () => undefined,
  };
  const credentials = new ClusterCredentials({
    access: {
      source: 'The kubeconfig /k',
      server: 'https://east.example',
      authority: undefined,
      serverName: undefined,
      user: { ...NOBODY, ...user },
      podNamespace: undefined,
    },
    plugin: { environment: { PATH: process.env['PATH'] }, timeoutMs, signal: stopping.signal },
    clock,
  });
  return {
    credentials,
    stopping,
    pass: (ms: number) => {
      monotonicMs += ms;
    },
  };
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'SVC_CLUSTER_CREDENTIALS_UNUSABLE' });
  const { message } = error as Error;
  expect(message).not.toContain(SECRET);
  return message;
}

/** A plugin that is a shell script, which adds a line to the file `runs`. */
function pluginOf(script: string) {
  const folder = temporaryFolder();
  const command = join(folder, 'login');
  const runs = join(folder, 'runs');
  writeFileSync(command, `#!/bin/sh\necho run >> '${runs}'\n${script}\n`);
  chmodSync(command, 0o755);
  return {
    folder,
    plugin: { command, args: [], env: { PRINTED: printedToken(SECRET) }, execInfo: '{"a":1}' },
    runs: () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0),
  };
}

function pairOf(certificate: string, key: string): Partial<AccessUser> {
  return { pair: { certificate: { pem: certificate }, key: { pem: key } } };
}

function printedToken(token: string, more: object = {}): string {
  return JSON.stringify({ kind: 'ExecCredential', status: { token, ...more } });
}

test('a token in a file is read again after ten seconds, and at once when it was refused', async () => {
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, 'one\n');
  const { credentials, pass } = credentialsOf({ tokenFile });
  const one = await credentials.current();
  expect(one.authorization).toBe('Bearer one');
  writeFileSync(tokenFile, 'two');
  expect((await credentials.current()).authorization).toBe('Bearer one');
  expect((await credentials.renewed(one)).authorization).toBe('Bearer two');
  writeFileSync(tokenFile, 'three');
  expect((await credentials.current()).authorization).toBe('Bearer two');
  pass(10_000);
  expect((await credentials.current()).authorization).toBe('Bearer three');
});

test('refused credentials that have no successor stay, and are not read in a loop', async () => {
  const { plugin, runs } = pluginOf('printf "%s" "$PRINTED"');
  const { credentials, pass } = credentialsOf({ plugin });
  const first = await credentials.current();
  for (let at = 0; at < 5; at++) expect(await credentials.renewed(first)).toEqual(first);
  expect(runs()).toBe(2);
  pass(CREDENTIALS_PAUSE_MS);
  await Promise.all([credentials.renewed(first), credentials.renewed(first)]);
  expect(runs()).toBe(3);
});

test('a file that is gone, and one that is empty, are named', async () => {
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, '\n');
  const empty = credentialsOf({ tokenFile }).credentials;
  expect(await messageOf(empty.current())).toMatch(`The token in ${tokenFile} is empty`);
  rmSync(tokenFile);
  const { credentials, pass } = credentialsOf({ tokenFile });
  expect(await messageOf(credentials.current())).toMatch(
    `The file ${tokenFile}, which the kubeconfig /k names, cannot be read: ENOENT`,
  );
  writeFileSync(tokenFile, 'back');
  await messageOf(credentials.current());
  pass(CREDENTIALS_PAUSE_MS);
  expect((await credentials.current()).authorization).toBe('Bearer back');
});

test('a client certificate is used, unless it has expired or is of another key', async () => {
  const authority = await CertificateAuthority.create('cluster');
  const good = await authority.issue({ subject: 'CN=ann' });
  const old = await authority.issue({
    from: new Date('2020-01-01T00:00:00Z'),
    to: new Date('2020-02-01T00:00:00Z'),
  });
  const { credentials } = credentialsOf(pairOf(good.certificate, good.key));
  expect(await credentials.current()).toEqual({ ...good, authorization: undefined });
  const expired = credentialsOf(pairOf(old.certificate, old.key)).credentials;
  expect(await messageOf(expired.current())).toMatch(
    /The client certificate of the kubeconfig cannot be used: The certificate expired at 2020-02-01/,
  );
  const mixed = credentialsOf(pairOf(good.certificate, old.key)).credentials;
  expect(await messageOf(mixed.current())).toMatch(/key does not belong to the certificate/);
});

test('a plugin is run again shortly before its credentials expire', async () => {
  const expirationTimestamp = new Date(Date.now() + 60_000).toISOString();
  const { plugin, runs } = pluginOf(`printf '%s' '${printedToken('t', { expirationTimestamp })}'`);
  const { credentials, pass } = credentialsOf({ plugin });
  expect((await credentials.current()).authorization).toBe('Bearer t');
  pass(45_000);
  await credentials.current();
  expect(runs()).toBe(1);
  pass(6000);
  await credentials.current();
  expect(runs()).toBe(2);
});

test('a plugin has the variables of the control plane, its own, and the cluster', async () => {
  const { plugin } = pluginOf(
    'test "$KUBERNETES_EXEC_INFO" = \'{"a":1}\' && test -n "$PATH" && printf "%s" "$PRINTED"',
  );
  const { credentials } = credentialsOf({ plugin });
  expect(await credentials.current()).toMatchObject({ authorization: `Bearer ${SECRET}` });
});

test.each([
  ['fails', 'echo "$PRINTED" >&2; exit 3', /has failed with exit code 3/],
  ['is killed', 'kill -TERM $$', /was ended by SIGTERM/],
  ['prints nonsense', 'echo "not $PRINTED"', /prints something that is not JSON/],
  ['prints nothing', 'true', /prints something that is not JSON/],
  ['prints another object', 'echo "{\\"kind\\":\\"Pod\\"}"', /prints no ExecCredential/],
  ['prints no credentials', `echo '{"kind":"ExecCredential","status":{}}'`, /neither a token nor/],
  [
    'prints a token with a line break',
    `printf '%s' '${printedToken(`${SECRET}\n`)}'`,
    /a token that no header can have/,
  ],
  [
    'prints half a pair',
    `printf '%s' '${printedToken(SECRET, { clientKeyData: 'x' })}'`,
    /not both PEM texts/,
  ],
  [
    'prints another time',
    `printf '%s' '${printedToken(SECRET, { expirationTimestamp: 'soon' })}'`,
    /`expirationTimestamp` that is no time/,
  ],
  ['prints without an end', 'while :; do echo "$PRINTED"; done', /prints more than \d+ bytes/],
])('a plugin that %s is an error without its output', async (_, script, expected) => {
  const { plugin } = pluginOf(script);
  const { credentials } = credentialsOf({ plugin });
  const message = await messageOf(credentials.current());
  expect(message).toMatch(/^The credential plugin ".*\/login" of the kubeconfig /);
  expect(message).toMatch(expected);
});

test('a plugin that is missing, or is no program, is an error', async () => {
  const { plugin } = pluginOf('true');
  chmodSync(plugin.command, 0o644);
  const { credentials } = credentialsOf({ plugin });
  expect(await messageOf(credentials.current())).toMatch(/cannot be started: EACCES/);
  const none = { ...plugin, command: 'svc-no-such-program' };
  const other = credentialsOf({ plugin: none }).credentials;
  expect(await messageOf(other.current())).toMatch(
    /"svc-no-such-program" .*cannot be started: ENOENT/,
  );
});

test('a plugin that hangs ends after its time', async () => {
  const { plugin, runs } = pluginOf('sleep 1000');
  const { credentials } = credentialsOf({ plugin }, 1000);
  expect(await messageOf(credentials.current())).toMatch(/has not ended within 1000 ms/);
  await messageOf(credentials.current());
  expect(runs()).toBe(1);
});

test('a plugin ends with everything that it has started', async () => {
  const { plugin, folder } = pluginOf(
    'sleep 1000 &\necho $! > "$0.started"\nmv "$0.started" "$0.pid"\nwait',
  );
  const { credentials, stopping } = credentialsOf({ plugin }, 60_000);
  const asked = messageOf(credentials.current());
  const pidFile = join(folder, 'login.pid');
  await expect.poll(() => existsSync(pidFile)).toBe(true);
  stopping.abort();
  await asked;
  await expect.poll(() => isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
});

test('requests that are refused with 401 are sent once more, with renewed credentials', async () => {
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, 'old');
  await using api = await ScriptedApi.start(({ headers }, response) => {
    if (headers.authorization === 'Bearer new') answerJson(response, 200, scriptedObject('a', 1));
    else answerJson(response, 401, statusObject(401, 'Unauthorized', 'Unauthorized'));
  });
  const { credentials } = credentialsOf({ tokenFile });
  await credentials.current();
  writeFileSync(tokenFile, 'new');
  const client = api.client({}, { credentials });
  const found = await Promise.all([1, 2, 3].map(() => client.get('/api/v1/configmaps/a')));
  expect(found.map((one) => one?.metadata.name)).toEqual(['a', 'a', 'a']);
  const sent = () => api.requests.map(({ headers }) => headers.authorization);
  expect(sent().toSorted((one, other) => String(one).localeCompare(String(other)))).toEqual([
    ...Array<string>(3).fill('Bearer new'),
    ...Array<string>(3).fill('Bearer old'),
  ]);
});

test('a request that is refused for good is sent once', async () => {
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, SECRET);
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 401, statusObject(401, 'Unauthorized', 'Unauthorized')),
  );
  const { credentials } = credentialsOf({ tokenFile });
  const client = api.client({}, { credentials });
  await expect(client.get('/api/v1/configmaps/a')).rejects.toMatchObject({ status: 401 });
  expect(api.requests.length).toBe(1);
});

test('a request ends in time although the plugin hangs', async () => {
  const { plugin, runs } = pluginOf('sleep 1000');
  await using api = await ScriptedApi.start(() => undefined);
  const { credentials, stopping } = credentialsOf({ plugin }, 60_000);
  const client = api.client({ answerTimeoutMs: 200 }, { credentials });
  await expect(client.get('/api/v1/configmaps/a')).rejects.toMatchObject({ kind: 'late' });
  expect(api.requests).toEqual([]);
  const waiting = messageOf(credentials.current());
  stopping.abort();
  expect(await waiting).toMatch(/was ended, because the control plane is stopping/);
  expect(runs()).toBe(1);
});

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
