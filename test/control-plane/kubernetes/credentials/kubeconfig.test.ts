// What the control plane reads of a kubeconfig and of its pod, and why each bad one is refused, without a value of it in the message.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKubeconfig } from '../../../../control-plane/kubernetes/credentials/kubeconfig.ts';
import { readPodAccess } from '../../../../control-plane/kubernetes/credentials/pod-access.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SECRET = 'secret-value-of-the-file';
const PEM = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString(
  'base64',
);

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly root?: object;
}

/** A kubeconfig with two contexts, of which the second one is broken. */
function document({ cluster = {}, user = {}, root = {} }: Parts): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'east', cluster: { server: 'https://east.example:6443/', ...cluster } },
      { name: 'twice', cluster: { server: 'https://a.example' } },
      { name: 'twice', cluster: { server: 'https://b.example' } },
      { name: 'bare', cluster: {} },
    ],
    users: [{ name: 'ann', user: { token: SECRET, ...user } }],
    contexts: [
      { name: 'work', context: { cluster: 'east', user: 'ann', namespace: 'n' } },
      { name: 'lost-cluster', context: { cluster: 'gone', user: 'ann' } },
      { name: 'lost-user', context: { cluster: 'east', user: 'ben' } },
      { name: 'two', context: { cluster: 'twice', user: 'ann' } },
      { name: 'no-server', context: { cluster: 'bare', user: 'ann' } },
      { name: 'empty' },
    ],
    'current-context': 'work',
    ...root,
  };
}

function fileWith(content: object | string): string {
  const file = join(temporaryFolder(), 'kubeconfig');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function read(parts: Parts, context?: string) {
  return readKubeconfig(fileWith(document(parts)), context);
}

function messageOf(call: () => unknown): string {
  let error: unknown;
  try {
    call();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: 'SVC_KUBECONFIG_UNUSABLE' });
  const { message } = error as Error;
  expect(message).not.toContain(SECRET);
  return message;
}

test('the current context says where the cluster is, and who asks it', () => {
  const { user, ...access } = read({
    cluster: { 'certificate-authority-data': PEM, 'tls-server-name': 'kubernetes' },
  });
  expect(access).toMatchObject({
    server: 'https://east.example:6443',
    authority: { pem: expect.stringContaining('BEGIN CERTIFICATE') as string },
    serverName: 'kubernetes',
    podNamespace: undefined,
  });
  expect(user).toEqual({ token: SECRET, tokenFile: undefined, pair: undefined, plugin: undefined });
});

test('files are relative to the kubeconfig, and embedded certificates count before them', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'kubeconfig');
  const user = {
    token: undefined,
    tokenFile: 'token',
    'client-certificate': 'ann.crt',
    'client-certificate-data': PEM,
    'client-key': '/etc/ann.key',
  };
  writeFileSync(
    file,
    JSON.stringify(document({ user, cluster: { 'certificate-authority': 'ca.crt' } })),
  );
  expect(readKubeconfig(file, undefined)).toMatchObject({
    authority: { file: join(folder, 'ca.crt') },
    user: {
      tokenFile: join(folder, 'token'),
      pair: {
        certificate: { pem: expect.any(String) as string },
        key: { file: '/etc/ann.key' },
      },
    },
  });
});

test('a credential plugin gets the cluster if it asks for it', () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './bin/login',
    args: ['token'],
    env: [{ name: 'REGION', value: 'east' }],
    provideClusterInfo: true,
  };
  const { plugin } = read({ user: { token: undefined, exec } }).user;
  expect(plugin).toMatchObject({ args: ['token'], env: { REGION: 'east' } });
  expect(plugin!.command).toMatch(/^\/.*\/bin\/login$/);
  expect(JSON.parse(plugin!.execInfo)).toEqual({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://east.example:6443' } },
  });
});

test.each<[string, Parts, string | undefined, RegExp]>([
  [
    'no current context',
    { root: { 'current-context': undefined } },
    undefined,
    /has no current context.*svc\.kubernetes\.context/,
  ],
  ['an unknown context', {}, 'home', /no entry "home" in `contexts`.*svc\.kubernetes\.context/],
  [
    'an unknown current context',
    { root: { 'current-context': 'old' } },
    undefined,
    /no entry "old" in `contexts`/,
  ],
  [
    'an unknown cluster',
    {},
    'lost-cluster',
    /no entry "gone" in `clusters`, which the context "lost-cluster" names/,
  ],
  [
    'an unknown user',
    {},
    'lost-user',
    /no entry "ben" in `users`, which the context "lost-user" names/,
  ],
  ['a cluster that is there twice', {}, 'two', /several entries "twice" in `clusters`/],
  [
    'a cluster without a server',
    {},
    'no-server',
    /"bare" in `clusters` that is incomplete: .*server is missing/,
  ],
  ['a context without contents', {}, 'empty', /"empty" in `contexts` that is incomplete/],
  ['contexts that are no list', { root: { contexts: 1 } }, undefined, /no entry "work"/],
  [
    'a token that is sent without TLS',
    { cluster: { server: 'http://east.example' } },
    undefined,
    /http:\/\/east\.example, to which credentials would be sent without TLS/,
  ],
  [
    'secrets that are sent without TLS',
    { cluster: { server: 'http://east.example' }, user: { token: undefined } },
    undefined,
    /secrets of services would be sent without TLS/,
  ],
  [
    'a server that is no URL',
    { cluster: { server: 'east.example' } },
    undefined,
    /no URL with https/,
  ],
  [
    'a server with a name and a password',
    { cluster: { server: `https://a:${SECRET}@east.example` } },
    undefined,
    /no URL with https/,
  ],
  [
    'a server that anybody may be',
    { cluster: { 'insecure-skip-tls-verify': true } },
    undefined,
    /insecure-skip-tls-verify/,
  ],
  [
    'a proxy',
    { cluster: { 'proxy-url': 'socks5://p' } },
    undefined,
    /`proxy-url` in the cluster "east"/,
  ],
  [
    'a password',
    { user: { username: 'ann', password: SECRET } },
    undefined,
    /`username` in the user "ann"/,
  ],
  [
    'an auth provider',
    { user: { 'auth-provider': { name: 'oidc' } } },
    undefined,
    /`auth-provider`/,
  ],
  ['another user', { user: { as: 'root' } }, undefined, /`as`/],
  [
    'an authority that is no PEM',
    { cluster: { 'certificate-authority-data': 'AAAA' } },
    undefined,
    /`certificate-authority-data` that is no PEM/,
  ],
  [
    'a certificate without a key',
    { user: { 'client-certificate-data': PEM } },
    undefined,
    /client certificate without its key/,
  ],
  ['a token that is no text', { user: { token: 5 } }, undefined, /`token` that is no text/],
  ['a plugin without a command', { user: { exec: {} } }, undefined, /plugin without a command/],
  [
    'a plugin of an old version',
    { user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
    undefined,
    /`apiVersion` is not/,
  ],
  [
    'a plugin with other variables',
    {
      user: {
        exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1', env: { A: 'b' } },
      },
    },
    undefined,
    /`env` is no list/,
  ],
])('%s is refused', (_, parts, context, expected) => {
  const message = messageOf(() => read(parts, context));
  expect(message).toMatch(/^The kubeconfig \/.*\/kubeconfig /);
  expect(message).toMatch(expected);
});

test('a kubectl proxy on this machine needs no TLS', () => {
  for (const server of ['http://127.0.0.1:8001', 'http://[::1]:8001', 'http://localhost:8001'])
    expect(read({ cluster: { server }, user: { token: undefined } }).server).toBe(server);
});

test.each([
  ['not YAML', `users: [{ name: x, token: "${SECRET}`, /is not YAML, which line 1 shows/],
  ['two fields of a name', `a: ${SECRET}\na: b\n`, /is not YAML, which line 2 shows/],
  ['a list', `- ${SECRET}`, /is no kubeconfig/],
  ['nothing', '', /is no kubeconfig/],
  ['too large', `# ${'x'.repeat(1024 * 1024)}`, /is larger than/],
])('a file that is %s is refused', (_, text, expected) => {
  expect(messageOf(() => readKubeconfig(fileWith(text), undefined))).toMatch(expected);
});

test('a file that is missing, or a folder, is refused with its path', () => {
  const folder = temporaryFolder();
  const missing = join(folder, 'none');
  expect(messageOf(() => readKubeconfig(missing, undefined))).toMatch(
    new RegExp(
      `^The kubeconfig ${missing} cannot be read: ENOENT. Set svc\\.kubernetes\\.kubeconfig`,
    ),
  );
  expect(messageOf(() => readKubeconfig(folder, undefined))).toMatch(/cannot be read: EISDIR/);
});

test('a pod reaches its cluster by its variables and its ServiceAccount', () => {
  const folder = temporaryFolder();
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  expect(messageOf(() => readPodAccess({}, folder))).toMatch(
    /^Without svc\.kubernetes\.kubeconfig the control plane has to be a pod/,
  );
  expect(messageOf(() => readPodAccess(env, folder))).toMatch(/has no .*token: ENOENT/);
  for (const [name, text] of Object.entries({ token: 't', 'ca.crt': 'c', namespace: 'svc-here\n' }))
    writeFileSync(join(folder, name), text);
  expect(readPodAccess(env, folder)).toMatchObject({
    server: 'https://[fd00::1]:443',
    authority: { file: join(folder, 'ca.crt') },
    user: { tokenFile: join(folder, 'token') },
    podNamespace: 'svc-here',
  });
});
