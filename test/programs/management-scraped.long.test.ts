// The metrics of a deployed instance in the hands of the programs that they are made for: Prometheus scrapes them, and
// promtool looks at their text.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed, untilStatus } from '../support/deployed-service.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
const POLL_MS = 50;
const WAIT_MS = 60_000;
const PROGRAMS = ['prometheus', 'promtool'];
const missing = PROGRAMS.filter((name) => spawnSync(name, ['--version']).status !== 0);
const notTested =
  missing.length > 0
    ? `not tested: there is no ${missing.join(', and no ')} (Debian: prometheus)`
    : process.platform === 'linux'
      ? undefined
      : 'not tested: where prometheus listens is known on Linux alone';
if (notTested !== undefined) console.log(notTested);
const DEPLOYING = join('docs', 'how-to', 'deploying.md');
/** The contract's own names break these rules of theirs. */
const LINTS = [
  'svc_invocation_duration_seconds_sum counter metrics should have "_total" suffix',
  'svc_invocation_duration_seconds_sum non-histogram and non-summary metrics should not have "_sum" suffix',
];

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));

async function start(name: string) {
  const { svc, management } = await startDeployed(module, join(folder, name));
  const url = await svc.listening();
  await untilStatus(`${management}/ready`, 200);
  return { url, management };
}

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Waits until the expression has a result. Prometheus is not ready from the first moment on. */
async function found(prometheus: string, expression: string): Promise<Found[]> {
  const query = `${prometheus}/api/v1/query?${String(new URLSearchParams({ query: expression }))}`;
  return vi.waitFor(
    async () => {
      const { data } = (await (await fetch(query)).json()) as { data: { result: Found[] } };
      expect(data.result).not.toEqual([]);
      return data.result;
    },
    { timeout: WAIT_MS, interval: POLL_MS },
  );
}

test.skipIf(notTested !== undefined)(
  'a real prometheus scrapes it, as the page about deploying has it',
  async () => {
    const { url, management } = await start('scraped');
    expect((await fetch(`${url}/counters/a`)).status).toBe(200);
    const config = join(folder, 'prometheus.yml');
    const shown = snippetsOf(DEPLOYING, 'yaml').find(({ code }) =>
      code.includes('scrape_configs'),
    )!;
    const [target] = /shopping-cart-0\.shopping-cart:7626/.exec(shown.code)!;
    writeFileSync(
      config,
      `global: { scrape_interval: 1s, scrape_timeout: 1s }
${shown.code.replace(target, new URL(management).host)}`,
    );
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'series')}`,
        '--web.listen-address=127.0.0.1:0',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    onTestFinished(() => void prometheus.kill('SIGKILL'));
    let said = '';
    const ready = Promise.withResolvers<void>();
    prometheus.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (said.includes('Server is ready')) ready.resolve();
    });
    const ended = once(prometheus, 'exit');
    void ended.then(() => ready.reject(new Error(`prometheus ended:\n${said}`)));
    await ready.promise;
    const api = `http://${listeningAddresses(prometheus.pid!)[0]!}`;
    await found(api, 'up{job="svc"} == 1');
    const [capacity] = await found(api, 'svc_recorder_capacity');
    expect(capacity!.value[1]).toBe('10000');
    const counted = 'svc_invocations_total{handler="get",outcome="Ok"} == 1';
    const components = (await found(api, counted)).map(({ metric }) => metric['component']);
    expect(new Set(components)).toEqual(new Set(['counter', 'CounterEndpoint']));
    prometheus.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
);

test.skipIf(notTested !== undefined)(
  'promtool reports only the lints that the contract names cause, before and after a request',
  async () => {
    const { url, management } = await start('linted');
    const lint = async () => {
      const input = await (await fetch(`${management}/svc/metrics`)).text();
      return spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    };
    const unused = await lint();
    expect((await fetch(`${url}/counters/a`)).status).toBe(200);
    for (const { status, stdout, stderr } of [unused, await lint()]) {
      expect(`${stdout}${stderr}`.trim().split('\n').toSorted()).toEqual(LINTS);
      expect(status).toBe(3);
    }
  },
);
