// Measurement (be): the commands of the README's section "Deploy", from an installed checkout to the first answer of a service.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../../test/support/free-ports.ts';
import { runSvc, SvcProcess } from '../../test/support/host-process.ts';
import { FormBrowser } from '../../test/support/identity-provider/form-browser.ts';
import { median, type Measurement, type Pace } from '../report.ts';

const AIM_MS = 20_000;
const POLL_MS = 20;
const ANSWER_MS_MAX = 60_000;
const ANSWER = '{"id":"1","items":[],"checkedOut":false}';
const cart = join(import.meta.dirname, '..', '..', 'fixtures', 'shopping-cart');

/** Milliseconds of each step. */
type Steps = ReadonlyMap<string, number>;

export async function measureJourney({ rounds, warmUpSeconds }: Pace): Promise<Measurement> {
  execFileSync('curl', ['--version']);
  const journeys: Steps[] = [];
  for (let round = 0; round < rounds; round++) journeys.push(await journey(warmUpSeconds === 0));
  const steps = [...journeys[0]!.keys()].map(
    (name) => `${name} ${Math.round(median(journeys.map((times) => times.get(name)!)))} ms`,
  );
  return {
    letter: 'be',
    what: `platform: from \`svc up -d\` in an installed checkout until curl has the answer of the deployed cart; the aim is ${AIM_MS / 1000} s`,
    svc: median(journeys.map((times) => [...times.values()].reduce((sum, ms) => sum + ms, 0))),
    beside: steps.join(', '),
    other: undefined,
    unit: 'ms',
    ratio: undefined,
    cores: `all ${availableParallelism()}`,
  };
}

/** Runs the commands in folders of their own. `isTrial`: Node compiles no source again that the cache of this process has. */
async function journey(isTrial: boolean): Promise<Steps> {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const state = join(cwd, 'state');
  const [gateway = 0, ...others] = await freePorts(4);
  const names = ['--api-port', '--login-port', '--registry-port'];
  const ports = names.flatMap((name, index) => [name, String(others[index])]);
  const env = {
    XDG_CONFIG_HOME: join(cwd, 'config'),
    XDG_STATE_HOME: cwd,
    XDG_CACHE_HOME: join(cwd, 'cache'),
    ...(isTrial ? {} : { NODE_COMPILE_CACHE: join(cwd, 'compiled') }),
  };
  const svc = async (...words: readonly string[]): Promise<void> => {
    const { code, stderr } = await runSvc(words, { cwd, env });
    if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code}: ${stderr}`);
  };
  const up = ['up', '-d', '--folder', state, '--port', String(gateway), '--http-port', '0'];
  const times = new Map<string, number>();
  try {
    for (const [name, run] of [
      ['up', () => svc(...up, ...ports)],
      ['login', () => logIn(new SvcProcess(['login', '--no-browser'], { cwd, env }))],
      ['organization', () => svc('org', 'create', 'acme')],
      ['project', () => svc('project', 'create', 'shop', '--organization', 'acme')],
      ['deploy', () => svc('deploy', cart, '--project', 'shop')],
      ['expose', () => svc('service', 'expose', 'cart', '--project', 'shop')],
      ['curl', () => answered(gateway, join(state, 'machine', 'ca.pem'))],
    ] as const) {
      const startedMs = performance.now();
      await run();
      times.set(name, performance.now() - startedMs);
    }
    return times;
  } finally {
    await svc('down', '--folder', state);
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Logs in as the first of the people, at the pages that a person sees. */
async function logIn(login: SvcProcess): Promise<void> {
  await login.logged(/^http\S+$/m);
  const address = /^http\S+$/m.exec(login.stderr)![0];
  const browser = new FormBrowser(new URL(address).searchParams.get('redirect_uri')!);
  const page = await browser.go(address);
  const [token, as] = [/name="token" value="([^"]+)"/, /name="as" value="([^"]+)"/].map(
    (field) => field.exec(page.body)![1]!,
  );
  const { url } = await browser.go(page.url, { token: token!, as: as! });
  await fetch(url);
  const { code, stderr } = await login.ended;
  if (code !== 0) throw new Error(`svc login ended with ${code}: ${stderr}`);
}

/** Asks with curl until the cart answers: the routes of the gateway follow the command that exposes the service. */
async function answered(port: number, authority: string): Promise<void> {
  const url = `https://cart-shop.svc.localhost:${port}/carts/1`;
  const untilMs = performance.now() + ANSWER_MS_MAX;
  for (;;) {
    const answer = await new Promise<string>((resolve) => {
      execFile('curl', ['-sS', '--cacert', authority, url], (error, stdout, stderr) =>
        resolve(error === null ? stdout : stderr),
      );
    });
    if (answer === ANSWER) return;
    if (performance.now() > untilMs) throw new Error(`the cart does not answer: ${answer}`);
    await pause(POLL_MS);
  }
}
