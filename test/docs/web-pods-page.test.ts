// docs/how-to/web-pods.md: its manifests agree with one another, and the proxy and the server run with their settings.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  CALLING_PORT,
  HTTP_PORT,
  MOUNT_PROTOCOL,
  PROCESS_PORT,
  READINESS_PORT,
} from '../../client/index.ts';
import { PROXY_DEFAULTS } from '../../proxy/pod/proxy-section.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../support/certificates/certificate-files.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { dialTls, PodProcess } from '../support/web-pods/web-pod.ts';

const PAGE = 'docs/how-to/web-pods.md';
const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
const manifests = snippetsOf(PAGE, 'yaml')[0]!.code;
const server = snippetsOf(PAGE, 'python')[0]!.code;
const CART_ID = 'spiffe://example.org/ns/svc-web/sa/cart';
const OWN_ID = 'spiffe://example.org/ns/svc-web/sa/shop';

/** Why something is not tested without a program or a library of Python; undefined if it is there. */
function whyNot(what: string, script: string): string | undefined {
  if (spawnSync('python3', ['-c', script]).status === 0) return undefined;
  const reason = `not tested: there is no ${what}`;
  console.log(`${PAGE}: ${reason}`);
  return reason;
}

/** Returns the variables of the manifest, of both containers. */
function variables(): Readonly<Record<string, string>> {
  const found = manifests.matchAll(/\{ name: ([A-Z_]+), value: '?([^'}]+?)'? \}/g);
  return Object.fromEntries(Array.from(found, ([, name, value]) => [name!, value!]));
}

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: number } };
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly command?: readonly string[];
}

interface Manifests {
  readonly pod: {
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly [Container, Container];
    readonly volumes: readonly { readonly name: string }[];
  };
  readonly service: { readonly clusterIP: string; readonly ports: readonly object[] };
  readonly policy: { readonly ingress: readonly [{ readonly ports: readonly object[] }] };
}

/** Parses the manifests with the library of Python. */
function parsed(): Manifests {
  const script = 'import json,sys,yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))';
  const { stdout } = spawnSync('python3', ['-c', script], { input: manifests, encoding: 'utf8' });
  const [deployment, service, policy] = JSON.parse(stdout) as [
    { spec: { template: { spec: Manifests['pod'] } } },
    { spec: Manifests['service'] },
    { spec: Manifests['policy'] },
  ];
  return { pod: deployment.spec.template.spec, service: service.spec, policy: policy.spec };
}

describe.skipIf(whyNot('library yaml of python3', 'import yaml') !== undefined)('the pod', () => {
  test('has the ports of the platform, and only the proxy is reached and has the certificates', () => {
    const { pod, service, policy } = parsed();
    const [proxy, shop] = pod.containers;
    expect(proxy).toMatchObject({
      command: ['svc', 'proxy'],
      ports: [
        { name: 'http', containerPort: HTTP_PORT },
        { name: 'ready', containerPort: READINESS_PORT },
      ],
      readinessProbe: { httpGet: { path: '/ready', port: READINESS_PORT } },
    });
    expect(proxy.volumeMounts).toEqual([
      { name: 'identity', mountPath: variables()['SVC_IDENTITY_FOLDER'], readOnly: true },
    ]);
    expect(pod.volumes.map(({ name }) => name)).toEqual(['identity']);
    expect(shop).toMatchObject({ name: variables()['SVC_NAME'] });
    expect(Object.keys(shop)).not.toContain('volumeMounts');
    expect(service).toMatchObject({
      clusterIP: 'None',
      ports: [{ name: 'http', port: HTTP_PORT }],
    });
    expect(policy.ingress[0].ports).toEqual([{ port: HTTP_PORT }, { port: READINESS_PORT }]);
  });

  test('has a grace period that is longer than the pause before SIGTERM and the stop of the proxy', () => {
    const { pod } = parsed();
    const pauses = pod.containers.map(({ lifecycle }) => lifecycle.preStop.sleep.seconds);
    expect(pauses).toEqual([5, 5]);
    const graceMs = pod.terminationGracePeriodSeconds * 1000;
    expect(graceMs).toBeGreaterThan(5_000 + PROXY_DEFAULTS.stopTimeoutMs);
  });
});

test('the process gets the variables of the platform', () => {
  expect(variables()).toMatchObject({
    PORT: String(PROCESS_PORT),
    SVC_SERVICES_URL: `http://127.0.0.1:${CALLING_PORT}`,
  });
  for (const port of [HTTP_PORT, READINESS_PORT, PROCESS_PORT, CALLING_PORT])
    expect(page).toContain(`| ${port} | the `);
  expect(page).toContain(`\`${OWN_ID}\``);
});

/** A service `cart` of the same project, by mutual TLS. */
async function startCart(authority: CertificateAuthority): Promise<number> {
  const { certificate, key } = await authority.issue({ uris: [CART_ID] });
  const tls = { cert: certificate, key, ca: authority.certificate, requestCert: true } as const;
  const ALPNProtocols = ['http/1.1', MOUNT_PROTOCOL];
  const cart = createServer(
    { ...tls, ALPNProtocols, minVersion: 'TLSv1.3' },
    ({ url }, response) => {
      response.statusCode = url === '/missing' ? 404 : 200;
      response.end(`two pears at ${url}`);
    },
  );
  cart.listen(0, '127.0.0.1');
  onTestFinished(() => {
    cart.close();
    cart.closeAllConnections();
  });
  await once(cart, 'listening');
  return (cart.address() as AddressInfo).port;
}

async function unusedPort(): Promise<number> {
  const listener = await PodProcess.open();
  const { port } = listener;
  listener.close();
  return port;
}

/** Starts the proxy with the settings of the manifest, but free ports, and a file in the place of DNS. */
async function startProxy(folder: string, cartPort: number, processPort: number) {
  const file = join(folder, 'services.json');
  writeFileSync(file, JSON.stringify({ services: { 'web/cart': [`127.0.0.1:${cartPort}`] } }));
  const { PORT: _port, SVC_SERVICES_URL: _url, ...settings } = variables();
  const svc = new SvcProcess(['proxy'], {
    env: {
      ...settings,
      SVC_IDENTITY_FOLDER: folder,
      SVC_PROXY_HOST: '127.0.0.1',
      SVC_PROXY_PORT: '0',
      SVC_PROXY_READINESS_PORT: '0',
      SVC_PROXY_CALLING_PORT: '0',
      SVC_PROXY_PROCESS_PORT: String(processPort),
      SVC_PROXY_SERVICES_FILE: file,
    },
  });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const portOf = async (name: string) => {
    const line = new RegExp(`"port":(\\d+),"message":"${name} port listening"`);
    await svc.logged(line);
    return Number(line.exec(svc.stderr)![1]);
  };
  const [service, readiness, calling] = [
    await portOf('service'),
    await portOf('readiness'),
    await portOf('calling'),
  ];
  return { svc, service, readiness, calling };
}

function startServer(folder: string, port: number, callingPort: number): ChildProcess {
  const file = join(folder, 'server.py');
  writeFileSync(file, server);
  const own = { PORT: String(port), SVC_SERVICES_URL: `http://127.0.0.1:${callingPort}` };
  const started = spawn('python3', [file], { env: { ...process.env, ...own }, stdio: 'ignore' });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started;
}

const noPython = whyNot('python3', '') !== undefined;

test.skipIf(noPython)(
  'the server answers, calls and is stopped beside the proxy of the manifest',
  async () => {
    const folder = temporaryFolder();
    const authority = await CertificateAuthority.create('ca');
    const own = await authority.issue({ uris: [OWN_ID] });
    writeCertificates(folder, certificateTexts(own, authority));
    const processPort = await unusedPort();
    const proxy = await startProxy(folder, await startCart(authority), processPort);
    const ready = async () => (await fetch(`http://127.0.0.1:${proxy.readiness}/ready`)).status;
    expect(await ready()).toBe(503);
    const shop = startServer(folder, processPort, proxy.calling);
    await expect.poll(ready).toBe(200);

    const gatewayId = variables()['SVC_IDENTITY_GATEWAY']!;
    const { certificate, key } = await authority.issue({ uris: [gatewayId] });
    const tls = { cert: certificate, key, ca: authority.certificate };
    const answerTo = async (path: string) => {
      const client = await dialTls(proxy.service, tls);
      client.write(`GET ${path} HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n`);
      return (await client.message()).body;
    };
    expect(await answerTo('/')).toBe('hello, internet');
    expect(await answerTo('/items')).toBe('internet asked for two pears at /items');
    // An error of the called service is an answer, too.
    expect(await answerTo('/missing')).toBe('internet asked for two pears at /missing');
    expect(await answerTo('/cart/items')).toContain('two pears at /items');

    // As in a pod, both get the signal: the server ends once the proxy has closed its connections.
    const ended = once(shop, 'exit');
    shop.kill('SIGTERM');
    expect((await proxy.svc.end('SIGTERM')).code).toBe(0);
    expect(await ended).toEqual([0, null]);
  },
);
