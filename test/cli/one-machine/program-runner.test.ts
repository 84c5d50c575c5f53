// The processes of supervised programs: which are started again, how they are stopped, and the sockets that they are given.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GatewaySockets } from '../../../cli/one-machine/gateway-sockets.ts';
import type { GatewayPort } from '../../../cli/one-machine/machine-ports.ts';
import type { MachineProgram } from '../../../cli/one-machine/machine-programs.ts';
import { ProgramRunner, type RunnerEnd } from '../../../cli/one-machine/program-runner.ts';
import { SUPERVISION_LIMITS } from '../../../cli/one-machine/supervision.ts';
import { processEnd, processStartOf, type ProcessStart } from '../../../kit/process-start.ts';

const HOST = '127.0.0.1';
const PORTS: readonly GatewayPort[] = [
  { name: 'https', host: HOST, port: 0, option: '--port', what: 'the gateway' },
];

/** Answers each connection with its process id. */
const SERVER = `
const server = require('node:net').createServer((socket) => socket.end(String(process.pid)));
server.listen({ fd: 3 }, () => console.log('ready ' + server.address().port));`;
/** Says that it ends. */
const POLITE = `
process.on('SIGTERM', () => { console.log('bye'); process.exitCode = 0; clearInterval(life); });
const life = setInterval(() => {}, 1000);
console.log('ready');`;

function program(name: string, code: string, more: Partial<MachineProgram> = {}): MachineProgram {
  // The words of the program follow its name.
  const command = [process.execPath, '-e', code, name];
  return { name, command, env: process.env, readyLine: /^ready/, ...more };
}

/** A runner of programs that runs until the test ends, and what it reports. */
class Runs {
  readonly lines: string[] = [];
  readonly restarts: string[] = [];
  readonly ended: Promise<RunnerEnd>;
  processes: Readonly<Record<string, ProcessStart>> = {};
  readonly #runner: ProgramRunner;

  constructor(programs: readonly MachineProgram[], limits = SUPERVISION_LIMITS) {
    this.#runner = new ProgramRunner(
      programs,
      {
        onLine: (name, line) => this.lines.push(`${name}: ${line}`),
        onProcesses: (processes) => (this.processes = processes),
        onRestart: (name, end) => this.restarts.push(`${name} ${end}`),
        onAllReady: () => this.lines.push('all ready'),
      },
      limits,
    );
    this.ended = this.#runner.run();
    onTestFinished(() => {
      for (const { pid } of Object.values(this.processes)) process.kill(pid, 'SIGKILL');
      return this.stop().then(() => undefined);
    });
  }

  /** Resolves with what the pattern has found in a line. */
  line(pattern: RegExp): Promise<string> {
    const find = () => this.lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])[0];
    return vi.waitUntil(find, { timeout: 10_000, interval: 5 });
  }

  stop(): Promise<RunnerEnd> {
    this.#runner.stop();
    return this.ended;
  }
}

test('a program is prepared before each of its processes, and tried again if that fails', async () => {
  let tries = 0;
  const prepare = () =>
    ++tries === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(undefined);
  const runs = new Runs([program('one', POLITE, { prepare })]);
  await runs.line(/(all ready)/);
  expect(runs.lines.slice(0, 2)).toEqual(['one: not yet', 'one: ready']);
  expect(runs.restarts).toEqual(['one it could not be prepared']);
  process.kill(runs.processes['one']!.pid, 'SIGKILL');
  await vi.waitUntil(() => tries === 3, { timeout: 10_000, interval: 5 });
});

test('a program that cannot be prepared is broken, with the reason', async () => {
  const failure = new Error('there is no server');
  const prepare = () => Promise.reject(failure);
  const end = await new Runs([program('one', POLITE, { prepare })]).ended;
  expect(end).toEqual({ kind: 'broken', name: 'one', lines: ['there is no server'] });
});

test('a program that is prepared when a stop begins is not started', async () => {
  const prepared = Promise.withResolvers<void>();
  const runs = new Runs([program('one', POLITE, { prepare: () => prepared.promise })]);
  const stopped = runs.stop();
  prepared.resolve();
  expect(await stopped).toEqual({ kind: 'stopped' });
  expect(runs.lines).toEqual([]);
});

async function openSockets(): Promise<GatewaySockets> {
  const sockets = await GatewaySockets.open(PORTS);
  onTestFinished(() => sockets.close());
  return sockets;
}

/** Resolves with the answer. Rejects if the connection is refused. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, HOST);
  await once(socket, 'connect');
  return text(socket);
}

test('a program that is killed is started again, and connections wait in its socket meanwhile', async () => {
  const sockets = await openSockets();
  const runs = new Runs([program('server', SERVER, { sockets: sockets.all })]);
  const port = Number(await runs.line(/^server: ready (\d+)/));
  const [before] = Object.values(runs.processes);
  expect(await ask(port)).toBe(String(before!.pid));
  process.kill(before!.pid, 'SIGKILL');
  await vi.waitUntil(() => runs.restarts.length > 0, { timeout: 10_000, interval: 1 });
  expect(runs.processes).toEqual({});
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port)));
  const [now] = Object.values(runs.processes);
  expect(new Set(answers)).toEqual(new Set([String(now!.pid)]));
  expect([runs.restarts, now!.pid === before!.pid]).toEqual([['server SIGKILL'], false]);
});

test('a port whose sockets are closed with a stop is free once the program has ended', async () => {
  const sockets = await openSockets();
  const runs = new Runs([program('server', SERVER, { sockets: sockets.all })]);
  const port = Number(await runs.line(/^server: ready (\d+)/));
  sockets.close();
  expect(await ask(port)).not.toBe('');
  expect(await runs.stop()).toEqual({ kind: 'stopped' });
  await expect(ask(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a program has the sockets that it is given, and none of the terminal', async () => {
  const sockets = await openSockets();
  const show = `const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES } = process.env;
    console.log([LISTEN_PID === String(process.ppid), LISTEN_FDS, LISTEN_FDNAMES].join(' '));`;
  const env = { ...process.env, LISTEN_PID: String(process.pid), LISTEN_FDS: '7' };
  const runs = new Runs([
    program('with', show + POLITE, { env, sockets: sockets.all }),
    program('without', show + POLITE, { env }),
  ]);
  expect(await runs.line(/^with: (.* \d.*)/)).toBe('true 1 https');
  expect(await runs.line(/^without: (.* \d.*)/)).toBe('true 0 ');
});

test('a stop asks the programs to end, the last one first, and lets each finish', async () => {
  const runs = new Runs([program('one', POLITE), program('two', POLITE)]);
  await runs.line(/(all ready)/);
  const processes = Object.values(runs.processes);
  expect(await runs.stop()).toEqual({ kind: 'stopped' });
  await vi.waitUntil(() => runs.lines.includes('one: bye'));
  expect(runs.lines.slice(-2)).toEqual(['two: bye', 'one: bye']);
  expect([processes.length, processes.map(processEnd).includes(undefined)]).toEqual([2, false]);
});

test('a program that does not end is killed after a time, with what it has started', async () => {
  const stubborn = `const { spawn } = require('node:child_process');
    process.on('SIGTERM', () => console.log('no'));
    console.log('ready ' + spawn('sleep', ['60']).pid);`;
  const runs = new Runs([program('stubborn', stubborn)], {
    ...SUPERVISION_LIMITS,
    stopTimeoutMs: 200,
  });
  const child = processStartOf(Number(await runs.line(/^stubborn: ready (\d+)/)));
  expect(await runs.stop()).toEqual({ kind: 'stopped' });
  await vi.waitUntil(() => processEnd(child) !== undefined);
  expect(runs.lines).toContain('stubborn: no');
});

test('the words of a first start are given until the program was ready', async () => {
  const show = `console.log('words ' + process.argv.slice(2).join());`;
  const runs = new Runs([program('one', show + POLITE, { firstWords: ['new'] })]);
  await runs.line(/(all ready)/);
  process.kill(runs.processes['one']!.pid, 'SIGKILL');
  await vi.waitUntil(() => runs.lines.filter((line) => line.includes('words')).length === 2);
  expect(runs.lines.filter((line) => line.includes('words'))).toEqual([
    'one: words new',
    'one: words ',
  ]);
});

test('a program that is never ready ends everything, with its last lines', async () => {
  const limits = { ...SUPERVISION_LIMITS, restartPauseMs: 1 };
  const broken = `console.error('no certificate'); process.exitCode = 1;`;
  const runs = new Runs([program('polite', POLITE), program('broken', broken)], limits);
  expect(await runs.ended).toEqual({ kind: 'broken', name: 'broken', lines: ['no certificate'] });
  expect(runs.processes).toEqual({});
});
