// A module as a process serves it, phase by phase: real shards, a real journal and real addresses; a stand-in is for a
// phase that fails.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DevLoop } from '../../../host/dev/dev-loop.ts';
import type { RunOptions } from '../../../host/service/run-options.ts';
import { RunningService } from '../../../host/service/running-service.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../../host/service/section-settings.ts';
import { readSettings } from '../../../host/service/settings.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { nextThread } from '../../support/next-thread.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let component: Uint8Array;
beforeAll(async () => {
  component = await compileFixture('shopping-cart');
});

interface Options {
  readonly port?: number;
  readonly managementPort?: number;
  readonly module?: Uint8Array;
  readonly folder?: string;
  readonly loop?: Partial<DevLoop>;
  /** The stop is asked for before the service is made. */
  readonly isStopped?: boolean;
}

/** A service that was not run yet. */
function service(options: Options = {}) {
  const { port = 0, managementPort = 0, module = component, folder = temporaryFolder() } = options;
  const file = join(folder, 'module.wasm');
  const dataFolder = join(folder, 'data');
  writeFileSync(file, module);
  const given = [
    ['--deployed'],
    ['--host', '127.0.0.1'],
    ['--port', String(port)],
    ['--data', dataFolder],
    ['--shards', '1'],
    ['--set', 'svc.management.host=127.0.0.1'],
    ['--set', `svc.management.port=${managementPort}`],
    ['--', file],
  ];
  const settings = readSettings(
    { args: given.flat(), env: {}, stderrIsTerminal: false },
    SECTION_DEFAULTS,
    SECTION_RANGES,
  );
  const log: LogEntry[] = [];
  const logged = new Map<string, PromiseWithResolvers<LogEntry>>();
  const entryOf = (message: string) => {
    if (!logged.has(message)) logged.set(message, Promise.withResolvers<LogEntry>());
    return logged.get(message)!;
  };
  const stop = Promise.withResolvers<string>();
  const { loop, isStopped = false } = options;
  if (isStopped) stop.resolve('SIGTERM');
  const running = new RunningService(
    { ...settings, code: { kind: 'module', file } },
    {
      log: (entry) => {
        log.push(entry);
        entryOf(entry.message).resolve(entry);
      },
      env: {},
      stopRequested: stop.promise,
      ...(loop === undefined
        ? {}
        : { loop: { dev: loop, built: { file } } as unknown as NonNullable<RunOptions['loop']> }),
    },
  );
  return {
    running,
    dataFolder,
    stop: stop.resolve,
    entry: async (message: string) => entryOf(message).promise,
    messages: () => log.map(({ message }) => message),
  };
}

type UnderTest = ReturnType<typeof service>;

const PHASES = ['management listening', 'listening', 'stopping', 'stopped'];
const messagesOf = (it: UnderTest) => it.messages().filter((message) => PHASES.includes(message));

async function managementUrl(it: UnderTest): Promise<string> {
  const { fields } = await it.entry('management listening');
  return `http://127.0.0.1:${String(fields!['port'])}`;
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Fails unless nothing of the service is left: its management server and the lock of its folder. */
async function expectNothingLeft(it: UnderTest): Promise<void> {
  await expect(fetch(`${await managementUrl(it)}/alive`)).rejects.toThrow('fetch failed');
  await (await openSqliteJournal(it.dataFolder)).close();
}

describe('a service', () => {
  test('starts its phases in order, is ready once it listens, and stops them in reverse', async () => {
    const it = service();
    const ran = it.running.run();
    const url = await managementUrl(it);
    const early = await fetch(`${url}/ready`);
    expect(early.status).toBe(503);
    const { fields } = await it.entry('listening');
    expect((await fetch(`${String(fields!['url'])}/carts/a`)).status).toBe(200);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    it.stop('SIGTERM');
    await ran;
    expect(messagesOf(it)).toEqual(PHASES);
    await expectNothingLeft(it);
  });

  test('answers at its management server until everything else has stopped', async () => {
    const it = service();
    const ran = it.running.run();
    const url = await managementUrl(it);
    await it.entry('listening');
    it.stop('SIGTERM');
    await it.entry('stopping');
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    await ran;
  });
});

describe('a phase that fails to start', () => {
  test('the management server: nothing else was started', async () => {
    const it = service({ managementPort: await takenPort() });
    await expect(it.running.run()).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: expect.stringMatching(/the management server.*with svc\.management\.port\.$/),
    });
    expect(messagesOf(it)).toEqual([]);
    expect(existsSync(it.dataFolder)).toBe(false);
  });

  test('the module: nothing is touched on disk', async () => {
    const it = service({ module: new Uint8Array(8) });
    await expect(it.running.run()).rejects.toMatchObject({
      code: expect.stringMatching(/^SVC_MODULE_/),
    });
    expect(existsSync(it.dataFolder)).toBe(false);
    await expectNothingLeft(it);
  });

  test('the journal: what was started before it is stopped', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    const held = await openSqliteJournal(join(folder, 'data'));
    const it = service({ folder });
    await expect(it.running.run()).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    await held.close();
    await expectNothingLeft(it);
  });

  test('the address: shards and journal are stopped', async () => {
    const it = service({ port: await takenPort() });
    await expect(it.running.run()).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: expect.stringMatching(/with --port\.$/),
    });
    expect(messagesOf(it)).toEqual(['management listening']);
    await expectNothingLeft(it);
  });

  test('and whose stop fails too: the first reason is given, and everything else is stopped', async () => {
    const it = service({
      loop: {
        begin: () => {
          throw new SvcError('SVC_OVERLOADED', 'the first reason');
        },
        end: () => Promise.reject(new Error('the stop of the loop failed')),
      },
    });
    await expect(it.running.run()).rejects.toThrow('the first reason');
    await expectNothingLeft(it);
  });
});

test('a stop that fails is the reason of a service that had none, and everything else is stopped', async () => {
  const began = Promise.withResolvers<void>();
  const it = service({
    loop: {
      begin: () => began.resolve(),
      end: () => Promise.reject(new Error('the stop of the loop failed')),
    },
  });
  const ran = it.running.run();
  await began.promise;
  it.stop('SIGTERM');
  await expect(ran).rejects.toThrow('the stop of the loop failed');
  expect(messagesOf(it)).not.toContain('stopped');
  await expectNothingLeft(it);
});

describe('a stop that is asked for', () => {
  test('before the start: no thread is started, and nothing is touched on disk', async () => {
    const before = await nextThread();
    const it = service({ isStopped: true });
    await it.running.run();
    expect(await nextThread()).toBe(before + 1);
    expect(messagesOf(it)).toEqual(expect.arrayContaining(['stopping', 'stopped']));
    expect(messagesOf(it)).not.toContain('listening');
    expect(existsSync(it.dataFolder)).toBe(false);
  });

  test('while the module is started: it is not served, and nothing is left', async () => {
    const it = service();
    const ran = it.running.run();
    await it.entry('management listening');
    it.stop('SIGTERM');
    await ran;
    expect(messagesOf(it)).toEqual(['management listening', 'stopping', 'stopped']);
    await expectNothingLeft(it);
  });
});
