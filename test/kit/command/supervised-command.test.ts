// SupervisedCommand with real processes: starts, restarts, signals to the whole group, and nothing that is left behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '../../../kit/log-entry.ts';
import {
  COMMAND_TIMES_DEFAULT,
  type CommandTimes,
  SupervisedCommand,
} from '../../../kit/command/supervised-command.ts';
import { WEB_COMMAND_WORDS } from '../../../proxy/web/web-command-words.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const QUICK: CommandTimes = { ...COMMAND_TIMES_DEFAULT, pauseFirstMs: 10, pauseMaxMs: 40 };
/** A server that prints its process id and listens on PORT. */
const SERVER = `const { createServer } = require('node:http');
createServer((_, r) => r.end('hello')).listen(Number(process.env.PORT), '127.0.0.1');
console.log('server ' + process.pid);`;
/** Starts the server as a child, and ends at SIGTERM without ending it. */
const PARENT = `const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', ${JSON.stringify(SERVER)}], { stdio: 'inherit' });
console.log('child ' + child.pid);
process.on('SIGTERM', () => process.exit(0));`;

interface Supervised {
  readonly command: SupervisedCommand;
  readonly lines: string[];
  readonly logged: LogEntry[];
  /** Ports on which a process was found listening. */
  readonly listened: number[];
}

function supervised(
  words: readonly string[],
  { times = QUICK, processPort }: { times?: CommandTimes; processPort?: number } = {},
): Supervised {
  const lines: string[] = [];
  const logged: LogEntry[] = [];
  const listened: number[] = [];
  const command = new SupervisedCommand({
    command: words,
    cwd: temporaryFolder(),
    environment: (port) => ({ ...process.env, PORT: String(port) }),
    processPort,
    words: WEB_COMMAND_WORDS,
    times,
    log: (entry) => logged.push(entry),
    onLine: (stream, line) => lines.push(`${stream} ${line}`),
    onListening: ({ port }) => listened.push(port),
  });
  onTestFinished(async () => {
    command.kill();
    await command.stop();
  });
  return { command, lines, logged, listened };
}

const node = (script: string, ...args: readonly string[]) => [
  process.execPath,
  '-e',
  script,
  ...args,
];

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that has ended is found until its parent knows.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'latin1'));
}

/** The process id that the output names after a word; polls until it does. */
async function pidAfter(word: string, { lines }: Supervised, index = 0): Promise<number> {
  const found = () =>
    lines
      .filter((line) => line.startsWith(`stdout ${word} `))
      .map((line) => Number(line.split(' ')[2]));
  await expect.poll(() => found().length, { timeout: 10_000 }).toBeGreaterThan(index);
  return found()[index]!;
}

test('the process gets PORT, is found listening, and ends with SIGTERM', async () => {
  const run = supervised(node(SERVER));
  await run.command.start();
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(1);
  const { pid, port, isListening, restarts } = run.command.state;
  expect({ port, isListening, restarts }).toEqual({
    port: run.listened[0],
    isListening: true,
    restarts: 0,
  });
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello');
  await run.command.stop();
  expect(isRunning(pid!)).toBe(false);
  expect(run.command.state).toMatchObject({ pid: null, isListening: false, restarts: 0 });
  expect(run.logged).toEqual([]);
});

test('no shell reads the command', async () => {
  const run = supervised(
    node('console.log(JSON.stringify(process.argv.slice(1)))', '$HOME', 'a b', '; ls', '*'),
  );
  await run.command.start();
  await expect.poll(() => run.lines[0]).toBe('stdout ["$HOME","a b","; ls","*"]');
});

test('its standard input is empty, and both outputs are reported with the last line', async () => {
  const run = supervised(
    node(`process.stdin.on('data', () => {}).on('end', () => {
      process.stdout.write('out\\nno end');
      process.stderr.write('\\x1b[31merr\\n');
    });`),
    { times: { ...QUICK, pauseFirstMs: 60_000 } },
  );
  await run.command.start();
  await expect.poll(() => run.logged.length).toBe(1);
  expect(run.lines.toSorted()).toEqual(['stderr \u001b[31merr', 'stdout no end', 'stdout out']);
});

test.each([
  ['ENOENT', ['there-is-no-such-program'], 'there is no such program'],
  ['EACCES', ['./data.txt'], 'may not be executed'],
])('a command that cannot be started is refused at once: %s', async (_code, words, reason) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'data.txt'), 'no program', { mode: 0o644 });
  const run = supervised(words.map((word) => word.replace('./', `${folder}/`)));
  await expect(run.command.start()).rejects.toMatchObject({
    code: 'SVC_COMMAND_NOT_STARTED',
    message: expect.stringContaining(reason),
  });
  expect(run.command.state.pid).toBe(null);
});

test('it is started again when it ends by itself, with pauses that grow up to a maximum', async () => {
  const run = supervised(node('process.exit(3)'));
  await run.command.start();
  await expect.poll(() => run.logged.length, { timeout: 20_000 }).toBeGreaterThan(4);
  await run.command.stop();
  const fields = run.logged.slice(0, 5).map((entry) => entry.fields);
  expect(fields).toEqual([10, 20, 40, 40, 40].map((pauseMs) => ({ exitCode: 3, pauseMs })));
  expect(run.command.state.restarts).toBeGreaterThan(3);
});

test('a stop ends the pause', async () => {
  const run = supervised(node('process.exit(0)'), { times: { ...QUICK, pauseFirstMs: 600_000 } });
  await run.command.start();
  await expect.poll(() => run.logged.length).toBe(1);
  await run.command.stop();
  expect(run.command.state.restarts).toBe(0);
});

test('a restart that is asked for comes at once, on the same port, and logs no end', async () => {
  const run = supervised(node(SERVER), { times: { ...QUICK, pauseFirstMs: 600_000 } });
  await run.command.start();
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(1);
  const first = run.command.state.pid!;
  run.command.restart();
  run.command.restart();
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(2);
  expect(isRunning(first)).toBe(false);
  expect(run.listened[1]).toBe(run.listened[0]);
  expect(run.command.state.restarts).toBe(1);
  expect(run.logged).toEqual([]);
});

test('a restart ends the pause after a failure', async () => {
  const folder = temporaryFolder();
  const flag = join(folder, 'fixed');
  const run = supervised(
    node(`if (!require('node:fs').existsSync(process.argv[1])) process.exit(1); ${SERVER}`, flag),
    { times: { ...QUICK, pauseFirstMs: 600_000 } },
  );
  await run.command.start();
  await expect.poll(() => run.logged.length).toBe(1);
  writeFileSync(flag, '');
  run.command.restart();
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(1);
});

test('a process that ignores SIGTERM is killed after the grace time', async () => {
  const run = supervised(
    node(`process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000);
    console.log('pid ' + process.pid);`),
    { times: { ...QUICK, stopGraceMs: 100 } },
  );
  await run.command.start();
  const pid = await pidAfter('pid', run);
  await run.command.stop();
  expect(run.lines).toContain('stdout no');
  expect(isRunning(pid)).toBe(false);
});

test.each([
  ['SIGTERM', async (run: Supervised) => run.command.stop()],
  [
    'SIGKILL',
    async (run: Supervised) => {
      run.command.kill();
      await run.command.stop();
    },
  ],
])('what the command has started ends with it: %s', async (_signal, end) => {
  const run = supervised(node(PARENT));
  await run.command.start();
  const pids = [run.command.state.pid!, await pidAfter('server', run)];
  await end(run);
  expect(pids.map(isRunning)).toEqual([false, false]);
});

test('when the command is killed, what it has started ends before it is started again', async () => {
  const run = supervised(node(PARENT));
  await run.command.start();
  const server = await pidAfter('server', run);
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(1);
  process.kill(run.command.state.pid!, 'SIGKILL');
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(2);
  expect(isRunning(server)).toBe(false);
  expect(run.logged[0]!.fields).toMatchObject({ signal: 'SIGKILL' });
});

test('a program that is missing at a restart is tried again', async () => {
  const folder = temporaryFolder();
  const program = join(folder, 'server');
  const script = `#!${process.execPath}\n${SERVER}`;
  writeFileSync(program, '#!/bin/sh\nrm "$0"\n', { mode: 0o755 });
  const run = supervised([program]);
  await run.command.start();
  const failed = () =>
    run.logged.filter(({ fields }) => fields?.['code'] === 'SVC_COMMAND_NOT_STARTED');
  await expect.poll(() => failed().length, { timeout: 10_000 }).toBeGreaterThan(0);
  writeFileSync(program, script, { mode: 0o755 });
  await expect.poll(() => run.listened, { timeout: 10_000 }).toHaveLength(1);
});

test('a port that was chosen and is taken is refused; a free one is chosen again', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const run = supervised(node(SERVER), { processPort: port });
  await expect(run.command.start()).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: expect.stringContaining('--process-port'),
  });
});

/** A process that does not listen, and what the log says about it. */
async function silent(processPort?: number): Promise<{ message: string; port: number }> {
  const run = supervised(node('setInterval(() => {}, 1000)'), {
    times: { ...QUICK, silentMs: 50 },
    ...(processPort === undefined ? {} : { processPort }),
  });
  await run.command.start();
  await expect.poll(() => run.logged.length, { timeout: 10_000 }).toBe(1);
  const { port } = run.command.state;
  expect(run.logged[0]).toMatchObject({ level: 'warn', fields: { port } });
  return { message: run.logged[0]!.message, port };
}

test('a process that does not listen is named once, with both ways to give it the port', async () => {
  const { message, port } = await silent();
  expect(message).toContain(
    `does not listen yet: it has to listen on 127.0.0.1 and the port ${port}`,
  );
  expect(message).toContain('svc web --process-port 8000 -- COMMAND');
  expect(message).toContain(`svc web -- sh -c 'exec COMMAND "$PORT"'`);
});

test('of a port that was chosen, the log says only its number', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  other.close();
  await once(other, 'close');
  const { message } = await silent(port);
  expect(message).toContain(`the port ${port}, which --process-port names`);
  expect(message).not.toContain('sh -c');
});

test('what the command has started ends also when svc itself is killed', async () => {
  const file = join(temporaryFolder(), 'program.ts');
  const source = new URL('../../../kit/command/supervised-command.ts', import.meta.url);
  writeFileSync(
    file,
    `import { SupervisedCommand, COMMAND_TIMES_DEFAULT } from ${JSON.stringify(source.href)};
    const command = new SupervisedCommand({
      command: ${JSON.stringify(node(PARENT))},
      cwd: '/', environment: (port) => ({ ...process.env, PORT: String(port) }),
      processPort: undefined, words: { portSetting: 'the port', silence: () => 'it is silent' }, times: COMMAND_TIMES_DEFAULT, log: console.log,
      onLine: (_stream, line) => console.log(line), onListening: () => console.log('listens'),
    });
    await command.start();`,
  );
  const svc = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  svc.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  onTestFinished(() => void svc.kill('SIGKILL'));
  await expect.poll(() => text, { timeout: 10_000 }).toContain('listens');
  const server = Number(/server (\d+)/.exec(text)![1]);
  svc.kill('SIGKILL');
  await expect.poll(() => isRunning(server), { timeout: 10_000 }).toBe(false);
});
