// Measurement (bd): how long requests wait while instances replace one another on one data folder, through the gateway, with mutual TLS.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeLayoutFolder } from '@svc/oci/image-files';
import { moduleImage } from '@svc/oci/module-image';
import { compileFixture } from '../../test/support/compile-fixture.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { runSvc, SvcProcess } from '../../test/support/host-process.ts';
import { PacedPosts } from '../../test/support/paced-posts.ts';
import { median, type Measurement, type Pace } from '../report.ts';

const POSTS_PER_SECOND = 300;
const TRIAL_POSTS_PER_SECOND = 20;
/** For each round of the benchmark. */
const REPLACEMENTS = 20;
const AIM_MS = 500;
const SECRET = 'a-secret-of-16-characters-or-more';
const POLL_MS = 20;
const READY_MS_MAX = 60_000;
const PATH = '/services/shop/counter';
const HOSTNAME = 'counter-shop.svc.localhost';

export async function measureReplacements({ rounds, warmUpSeconds }: Pace): Promise<Measurement> {
  const isTrial = warmUpSeconds === 0;
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const [gateway = 0, api = 0, login = 0, registry = 0] = await freePorts(4);
  const state = join(folder, 'state');
  const people = join(folder, 'people.yaml');
  writeFileSync(
    people,
    `people:\n  - subject: ann\nmachines:\n  - clientId: ci\n    secret: ${SECRET}\n`,
  );
  const module = await compileFixture('counter');
  const image = moduleImage({ module, protocol: '0.2.0', runtime: '0.1.0' });
  await writeLayoutFolder(image, '1', join(state, 'images', 'counter'));
  const named = {
    port: gateway,
    'http-port': 0,
    'api-port': api,
    'login-port': login,
    'registry-port': registry,
  };
  const ports = Object.entries(named).flatMap(([name, port]) => [`--${name}`, String(port)]);
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: folder };
  const words = ['up', '--folder', state, '--people', people, ...ports];
  const up = new SvcProcess(words, { env });
  try {
    await up.logged(/The installation runs/);
    const send = await member(api, login, `https://api.svc.localhost:${gateway}`);
    await send('POST /organizations/acme', { name: 'Acme' });
    await send('POST /projects/shop', { name: 'Shop', organizationId: 'acme' });
    const descriptor = { image: 'oci:images/counter:1', hosting: 'wasm', protocol: '0.2.0' };
    await send(`PUT ${PATH}`, { name: 'counter', ...descriptor });
    await untilReady(send);
    await send(`POST ${PATH}/expose`);
    const ca = readFileSync(join(state, 'machine', 'ca.pem'), 'utf8');
    while ((await statusAt(gateway, ca)) !== 200) await pause(POLL_MS);
    const posts = new PacedPosts({
      port: gateway,
      hostname: HOSTNAME,
      path: '/counters/one',
      body: '{"amount":1}',
      ca,
      perSecond: isTrial ? TRIAL_POSTS_PER_SECOND : POSTS_PER_SECOND,
    });
    const replacements = isTrial ? 1 : REPLACEMENTS * rounds;
    const longestMs: number[] = [];
    for (let count = 0; count < replacements; count++) {
      const answered = posts.tookMs.length;
      await send(`POST ${PATH}/restart`);
      await untilReady(send);
      longestMs.push(Math.max(0, ...posts.tookMs.slice(answered)));
    }
    await posts.stop();
    if (posts.failures.length > 0)
      throw new Error(`${posts.failures.length} of ${posts.sent} failed: ${posts.failures[0]}`);
    return {
      letter: 'bd',
      what: `platform: longest answer over ${replacements} replacements on one data folder at ${isTrial ? TRIAL_POSTS_PER_SECOND : POSTS_PER_SECOND} POST/s, of which none fails; the aim is ${AIM_MS} ms`,
      svc: Math.max(...posts.tookMs),
      beside: `median of the longest of each replacement: ${Math.round(median(longestMs))} ms; median of all: ${median(posts.tookMs).toFixed(1)} ms`,
      other: undefined,
      unit: 'ms',
      ratio: undefined,
      cores: `all ${availableParallelism()}`,
    };
  } finally {
    await up.end('SIGTERM');
    await runSvc(['down', '--folder', state], { env });
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Returns the status of the counter's answer through the gateway. */
function statusAt(port: number, ca: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = { host: '127.0.0.1', port, servername: HOSTNAME, ca, agent: false };
  get({ ...options, path: '/counters/one', headers: { host: HOSTNAME } }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  }).on('error', reject);
  return promise;
}

type Send = (line: string, json?: object) => Promise<unknown>;

/** Returns what sends requests of a machine to the control plane. */
async function member(api: number, login: number, audience: string): Promise<Send> {
  const answer = await fetch(`http://127.0.0.1:${login}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`ci:${SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  return async (line, json) => {
    const [method, path] = line.split(' ') as [string, string];
    const response = await fetch(`http://127.0.0.1:${api}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${line} was answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

async function untilReady(send: Send): Promise<void> {
  const untilMs = performance.now() + READY_MS_MAX;
  for (;;) {
    const status = (await send(`GET ${PATH}`)) as { readonly lifecycle: string };
    if (status.lifecycle === 'ready') return;
    if (performance.now() > untilMs) throw new Error(`the counter is ${status.lifecycle}`);
    await pause(POLL_MS);
  }
}
