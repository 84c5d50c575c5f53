// StandbyInstances: real services on one data folder, of which one serves and others wait in standby.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { observeState, type ServicePhase } from '../../kit/state-file.ts';
import { changedSources } from './changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from './compile-fixture.ts';
import { SvcProcess } from './host-process.ts';
import { temporaryFolderOfFile } from './temporary-folder.ts';

export interface StandbyModules {
  /** Counts what is added to a counter: `POST /counters/ID`. */
  readonly counter: string;
  /** The same, with another name of its event. */
  readonly renamed: string;
  /** A module of other components. */
  readonly foreign: string;
}

/** Compiles the modules before the tests of a file; to be called outside of them. */
export function standbyModules(): StandbyModules {
  const folder = temporaryFolderOfFile();
  const [counter, renamed, foreign] = ['counter', 'renamed', 'foreign'].map((name) =>
    join(folder, `${name}.wasm`),
  ) as [string, string, string];
  beforeAll(async () => {
    const edit = ['@variant("added")', '@variant("increased")'] as const;
    const sources = changedSources(await sourcesOf('counter'), [edit]);
    writeFileSync(counter, await compileFixture('counter'));
    writeFileSync(foreign, await compileFixture('expiring-order'));
    writeFileSync(renamed, await compileSources('counter', sources));
  }, 120_000);
  return { counter, renamed, foreign };
}

export interface Instance {
  readonly svc: SvcProcess;
  readonly stateFile: string;
}

let instances = 0;

/** Starts a service of the folder, which ends with the test. */
export function startInstance(
  folder: string,
  module: string,
  settings: readonly string[] = [],
): Instance {
  const stateFile = join(folder, `state-${++instances}.json`);
  const data = join(folder, 'data');
  const words = ['run', '--deployed', module, '--port', '0', '--shards', '2', '--data', data];
  const all = ['svc.http.host=127.0.0.1', `svc.state-file=${stateFile}`, ...settings];
  const svc = new SvcProcess([...words, ...all.flatMap((setting) => ['--set', setting])]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, stateFile };
}

export function startStandby(
  folder: string,
  module: string,
  settings: readonly string[] = [],
): Instance {
  return startInstance(folder, module, ['svc.standby=true', ...settings]);
}

/** Resolves once the service has said that it is in the phase. */
export async function untilPhase({ stateFile }: Instance, phase: ServicePhase): Promise<void> {
  await expect
    .poll(() => observeState(stateFile), { timeout: 30_000, interval: 5 })
    .toMatchObject({ state: { phase } });
}

/** Adds 1 to a counter, and returns what it is then. */
export async function increment(url: string, id: string): Promise<{ readonly value: number }> {
  const answer = await fetch(`${url}/counters/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":1}',
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { value: number };
}

/** A service that serves, and has stored 1 for the counter `a`. */
export async function servedInstance(
  folder: string,
  module: string,
): Promise<{ readonly old: Instance; readonly url: string }> {
  const old = startInstance(folder, module);
  const url = await old.svc.listening();
  expect(await increment(url, 'a')).toEqual({ value: 1 });
  return { old, url };
}
