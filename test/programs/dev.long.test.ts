// `svc dev` as a developer has it open: one session in which a project is changed again and again, and ways to end one.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DevState } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const COUNTER = `import { Effect, EventSourcedEntity, Result, register } from "@svc/guest-sdk";
@data class Count { value: i32 = 0; }
@data class Add { amount: i32 = 0; }
@data abstract class CounterEvent {}
@variant("added") class Added extends CounterEvent { amount: i32 = 0; }
@entity("counter") class Counter extends EventSourcedEntity<Count, CounterEvent> {
  empty(entityId: string): Count { return new Count(); }
  apply(state: Count, event: CounterEvent): Count {
    if (event instanceof Added) state.value += (event as Added).amount;
    return state;
  }
  @command("add") add(state: Count, input: Add): Effect<Count> {
    const added: Added = { amount: input.amount };
    const next: Count = { value: state.value + input.amount };
    return this.persist(added).thenReply(next);
  }
  @query("get") get(state: Count): Count { return state; }
}
@endpoint("/counters") @access("local") class CounterEndpoint {
  @get("/{id}") get(id: string): Result<Count> { return new CounterClient(id).get(); }
  @post("/{id}") add(id: string, input: Add): Result<Count> { return new CounterClient(id).add(input); }
  @get("/{id}/version") version(id: string): i32 { return VERSION; }
  @get("/{id}/share") share(id: string): i32 {
    const parts = id.length - 1;
    return 100 / parts;
  }
}
register<Counter>();
register<CounterEndpoint>();
const VERSION = 0;
`;
const folder = temporaryFolderOfFile();
const project = join(folder, 'till');
const entry = join(project, 'assembly', 'index.ts');
const running = join(folder, 'running');
const env = { SVC_RUNNING_DIR: running };

/** It sees the text whole, however slowly that is written. */
function write(...texts: readonly string[]): void {
  dev.child.kill('SIGSTOP');
  for (const text of texts) writeFileSync(entry, text);
  dev.child.kill('SIGCONT');
}
const version = (number: number) => COUNTER.replace('VERSION = 0', `VERSION = ${number}`);

/** Many times as long as a build takes. */
const WAIT_MS_MAX = 90_000;
let dev: SvcProcess;
let url: string;

/** What a GET is answered with, again until it is as it should be: while the modules change, nobody listens. */
async function until<T>(look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> {
  const sinceMs = performance.now();
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && isRight(found)) return found;
    if (dev.child.exitCode !== null) throw new Error(`svc dev has ended:\n${dev.stderr}`);
    if (performance.now() - sinceMs > WAIT_MS_MAX)
      throw new Error(`waited in vain, and svc dev said:\n${dev.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function answer(path: string): Promise<string> {
  const response = await fetch(`${url}${path}`, { headers: { connection: 'close' } });
  return `${response.status} ${await response.text()}`;
}

async function devState(): Promise<DevState> {
  const [file] = readdirSync(running);
  const { observabilityAddress } = JSON.parse(readFileSync(join(running, file!), 'utf8')) as {
    readonly observabilityAddress: string;
  };
  return (await (await fetch(`${observabilityAddress}/observability/dev`)).json()) as DevState;
}

/** What was said since. */
async function said(pattern: RegExp, since: number): Promise<void> {
  await until(
    async () => dev.stderr.slice(since),
    (text) => pattern.test(text),
  );
}

const isServing = (number: number) =>
  until(
    () => answer('/counters/a/version'),
    (text) => text === `200 ${number}`,
  );

async function add(amount: number): Promise<Response> {
  return fetch(`${url}/counters/a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ amount }),
  });
}

describe('a session', () => {
  beforeAll(async () => {
    mkdirSync(join(project, 'assembly'), { recursive: true });
    writeFileSync(entry, version(1));
    dev = new SvcProcess(['dev', 'till', '--port', '0'], { cwd: folder, env });
    url = await dev.listening();
    await isServing(1);
  });

  afterAll(async () => {
    dev.child.kill('SIGKILL');
    await dev.ended;
  });

  test('says where the service is, and what it serves', () => {
    expect(dev.stderr).toContain(`till  ${url}`);
    expect(dev.stderr).toContain('journal till/.svc/till');
    expect(dev.stderr).toMatch(/^ {2}POST {4}\/counters\/\{id\}$/m);
    expect(dev.stderr).toMatch(
      / ● serving · compiled in .*, served .* after · till\/assembly\/index\.ts$/m,
    );
    // oxlint-disable-next-line no-control-regex -- it is what a pipe must not see
    expect(dev.stderr).not.toMatch(/\u001b/);
  });

  test('a change is served with port and journal kept', async () => {
    expect((await add(5)).status).toBe(200);
    write(version(2));
    await isServing(2);
    expect(await answer('/counters/a')).toBe('200 {"value":5}');
    expect(await until(devState, ({ state }) => state === 'serving')).toMatchObject({
      problems: [],
      builtMs: expect.any(Number) as number,
      servedAfterMs: expect.any(Number) as number,
    });
  });

  test('a compile error is printed with file and line, and the old module continues to serve', async () => {
    const since = dev.stderr.length;
    write(`${version(3)}let wrong: i32 = "a";\n`);
    await said(/1 problem/, since);
    const line = version(3).split('\n').length;
    expect(dev.stderr.slice(since)).toContain(`till/assembly/index.ts:${line}:18: error: `);
    expect(dev.stderr.slice(since)).toContain('let wrong: i32 = "a";');
    expect(dev.stderr.slice(since)).toContain('what was served before goes on');
    expect(await answer('/counters/a/version')).toBe('200 2');
    expect(await until(devState, ({ state }) => state === 'build-failed')).toMatchObject({
      problems: [{ file: 'assembly/index.ts', line, column: 18 }],
    });
  });

  test('a module that is refused at its start leaves the old one', async () => {
    const since = dev.stderr.length;
    write(`${version(4)}if (VERSION > 0) throw new Error("no start");\n`);
    await said(/✕ not served: .*\[SVC_MODULE_START_FAILED\]/, since);
    const line = version(4).split('\n').length;
    expect(dev.stderr.slice(since)).toContain(`till/assembly/index.ts:${line}:`);
    expect(await answer('/counters/a/version')).toBe('200 2');
    const { state, problems } = await until(devState, (told) => told.problems[0]?.file != null);
    expect(state).toBe('refused');
    expect(problems).toMatchObject([
      {
        message: expect.stringContaining('(abort: no start at index.ts:') as string,
        file: 'assembly/index.ts',
        line,
        source: expect.stringContaining('throw new Error("no start");') as string,
      },
    ]);
  });

  test('a trap is printed with its AssemblyScript line', async () => {
    write(version(5));
    await isServing(5);
    const since = dev.stderr.length;
    expect(await answer('/counters/a/share')).toMatch(/^500 /);
    const line = COUNTER.split('\n').findIndex((text) => text.includes('100 / parts')) + 1;
    await said(
      new RegExp(`till/assembly/index\\.ts:${line}:\\d+ in CounterEndpoint\\.share`),
      since,
    );
    await said(new RegExp(`${line} \\| return 100 / parts;`), since);
    expect(dev.stderr.slice(since)).toContain('divide by zero');
  });

  test('a change during a build builds once more, not twice', async () => {
    const since = dev.stderr.length;
    const before = await devState();
    write(version(6));
    // It builds, unless it has done so before this program has looked; then the others are a change like any.
    await until(devState, (state) => state.since !== before.since);
    write(version(7), version(8), version(9));
    await isServing(9);
    write(version(10));
    await isServing(10);
    await said(/(● serving[^]*){3}/, since);
    expect(dev.stderr.slice(since).match(/● serving|✕ \d/g)).toHaveLength(3);
  });

  test('a file that is no part of the module builds nothing', async () => {
    const since = dev.stderr.length;
    writeFileSync(join(project, 'notes.ts'), 'nothing');
    write(version(11));
    await isServing(11);
    await said(/serving/, since);
    expect(dev.stderr.slice(since)).not.toContain('notes.ts');
  });

  test('a change of a file that has only data classes is served', async () => {
    const file = join(project, 'assembly', 'extra.ts');
    const classes = '@data export class Extra { @optional value: i32 = 1; }\n';
    const route =
      '@post("/{id}/extra") extra(id: string, input: Extra): i32 { return input.value; }';
    const module = version(12).replace('@get("/{id}/version")', (next) => `${route}\n  ${next}`);
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const extra = async () =>
      (await fetch(`${url}/counters/a/extra`, { method: 'POST', headers, body: '{}' })).text();
    writeFileSync(file, classes);
    write(`import { Extra } from "./extra";\n${module}`);
    await until(extra, (text) => text === '1');
    writeFileSync(file, classes.replace('= 1', '= 2'));
    expect(await until(extra, (text) => text !== '1')).toBe('2');
  });

  test('stored events that no longer fold are a warning, and the service runs on', async () => {
    const since = dev.stderr.length;
    write(version(12).replace('@variant("added")', '@variant("increased")'));
    await isServing(12);
    await said(/◆ stored events no longer fold/, since);
    const { upgrade } = await until(devState, (state) => (state.upgrade ?? []).length > 0);
    expect(upgrade?.[0]).toMatch(/^counter: .*\(a, event 1\)/);
    write(version(13));
    await isServing(13);
    await until(devState, (state) => state.upgrade?.length === 0);
    expect(await answer('/counters/a')).toBe('200 {"value":5}');
  });

  test('a second session on the same journal says who has it', async () => {
    const second = await runSvc(['dev', 'till', '--port', '0'], { cwd: folder, env });
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^svc: .*\[SVC_DATA_IN_USE\]$/m);
    expect(await answer('/counters/a/version')).toBe('200 13');
  });

  test('ctrl-c leaves nothing behind', async () => {
    const [file] = readdirSync(running);
    const { pid } = JSON.parse(readFileSync(join(running, file!), 'utf8')) as { pid: number };
    const ended = await dev.end('SIGINT');
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(running)).toEqual([]);
    expect(readdirSync(join(project, '.svc'))).toEqual(['till']);
    expect(readdirSync(project).toSorted()).toEqual(['.svc', 'assembly', 'notes.ts']);
  });
});

describe('svc dev', () => {
  test('killed leaves no host, and the next session takes away what it left', async () => {
    const own = join(folder, 'killed');
    mkdirSync(own);
    writeFileSync(join(own, 'index.ts'), COUNTER);
    dev = new SvcProcess(['dev', '--port', '0'], { cwd: own, env });
    await dev.listening();
    const [file] = await until(
      async () => readdirSync(running),
      (files) => files.length === 1,
    );
    const { pid } = JSON.parse(readFileSync(join(running, file!), 'utf8')) as { pid: number };
    dev.child.kill('SIGKILL');
    await dev.ended;
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(readdirSync(running)).toEqual([]);
    expect(existsSync(join(own, '.svc', 'dev'))).toBe(true);
    dev = new SvcProcess(['dev', '--port', '0'], { cwd: own, env });
    await dev.listening();
    expect(readdirSync(join(own, '.svc', 'dev'))).toEqual([String(dev.child.pid)]);
    expect((await dev.end('SIGTERM')).code).toBe(0);
    expect(existsSync(join(own, '.svc', 'dev'))).toBe(false);
  });

  test('whose terminal is closed, which all its processes are told, leaves nothing but the journal', async () => {
    const own = join(folder, 'hung-up');
    mkdirSync(own);
    writeFileSync(join(own, 'index.ts'), COUNTER);
    dev = new SvcProcess(['dev', '--port', '0'], { cwd: own, env });
    await dev.listening();
    const [file] = await until(
      async () => readdirSync(running),
      (files) => files.length === 1,
    );
    const { pid } = JSON.parse(readFileSync(join(running, file!), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGHUP');
    expect((await dev.end('SIGHUP')).code).toBe(0);
    expect(readdirSync(running)).toEqual([]);
    expect(existsSync(join(own, '.svc', 'dev'))).toBe(false);
  });

  test('on what does not compile at first waits for a change', async () => {
    const own = join(folder, 'broken');
    mkdirSync(own);
    writeFileSync(join(own, 'index.ts'), 'nonsense(');
    dev = new SvcProcess(['dev', 'broken', '--port', '0'], { cwd: folder, env });
    await dev.logged(/waiting for a change/);
    writeFileSync(join(own, 'index.ts'), COUNTER);
    expect(await dev.listening()).toMatch(/^http:\/\/127/);
    expect((await dev.end('SIGINT')).code).toBe(0);
  });

  test('of a folder without an entry file says which was looked for', async () => {
    mkdirSync(join(folder, 'empty'));
    for (const [named, words] of [
      ['empty', 'empty has neither assembly/index.ts nor index.ts'],
      ['nowhere', 'nowhere is not there'],
    ] as const) {
      const { code, stderr } = await runSvc(['dev', named], { cwd: folder, env });
      expect(code).toBe(1);
      expect(stderr).toContain(words);
    }
  });

  test('on a port that is taken says so and ends', async () => {
    dev = new SvcProcess(['dev', 'broken', '--port', '0'], { cwd: folder, env });
    const { port } = new URL(await dev.listening());
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'index.ts'), COUNTER);
    const { code, stderr } = await runSvc(['dev', 'other', '--port', port], { cwd: folder, env });
    expect(code).toBe(1);
    expect(stderr).toContain('[SVC_PORT_IN_USE]');
    expect((await dev.end('SIGINT')).code).toBe(0);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
