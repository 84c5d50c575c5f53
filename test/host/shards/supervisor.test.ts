// Supervisor with real threads that act as a shard would (test/support/acting-shard.ts).
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { JournalConnection } from '../../../host/storage/journal-connection.ts';
import {
  ADMIT,
  descriptor,
  failsWith,
  LISTEN,
  SERVE,
  connectionOf,
  supervise,
} from '../../support/acting-service.ts';

describe('a start', () => {
  test('resolves with the address that the shard was given, and a stop lets it finish', async () => {
    const { supervisor } = supervise(SERVE);
    expect(await supervisor.start()).toEqual({
      address: { host: '192.0.2.1', port: 4711 },
      descriptor,
    });
    expect(await supervisor.stop()).toBe(true);
  });

  test('of a refused module rejects with the reason and never asks for the journal', async () => {
    const { supervisor, connects, restarts } = supervise(
      `tell({ kind: 'failed', code: 'SVC_MODULE_NOT_WASM', message: 'It is not.' });`,
    );
    expect(await failsWith(supervisor.start())).toMatchObject({
      code: 'SVC_MODULE_NOT_WASM',
      message: 'It is not.',
    });
    expect(connects()).toBe(0);
    expect(restarts()).toEqual([]);
  });

  test('rejects when the journal cannot be opened', async () => {
    const { supervisor } = supervise(SERVE, {
      connect: async () => Promise.reject(new Error('no journal')),
    });
    expect((await failsWith(supervisor.start()))?.message).toBe('no journal');
  });

  test('rejects with what the thread threw, and with an exit that says nothing', async () => {
    expect(
      await failsWith(supervise(`throw new Error('oh no');`).supervisor.start()),
    ).toMatchObject({ code: 'SVC_SHARD_FAILED', message: expect.stringContaining('Error: oh no') });
    expect(await failsWith(supervise(`process.exit(0);`).supervisor.start())).toMatchObject({
      code: 'SVC_SHARD_FAILED',
    });
  });
});

describe('a stop', () => {
  test('before the module is admitted ends the thread, and the start rejects', async () => {
    const { supervisor, connects } = supervise(`await new Promise(() => {});`);
    const started = failsWith(supervisor.start());
    expect(await supervisor.stop()).toBe(true);
    expect(await started).toMatchObject({ code: 'SVC_SHARD_FAILED' });
    expect(connects()).toBe(0);
  });

  test.each(['before', 'after'])(
    'while the journal is opened waits for nothing, and the port is closed that is opened %s the thread has ended',
    async (moment) => {
      const asked = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<JournalConnection>();
      const { supervisor } = supervise(SERVE, {
        connect: async () => {
          asked.resolve();
          return opened.promise;
        },
      });
      const started = failsWith(supervisor.start());
      await asked.promise;
      const { port1, port2 } = new MessageChannel();
      const closed = new Promise((resolve) => {
        port2.once('close', resolve);
      });
      const stopped = supervisor.stop();
      if (moment === 'after') await stopped;
      opened.resolve(connectionOf(port1));
      expect(await stopped).toBe(true);
      expect(await started).toMatchObject({ code: 'SVC_SHARD_FAILED' });
      await closed;
    },
  );

  test('cuts a shard that does not finish, and says so', async () => {
    const { supervisor } = supervise(`${ADMIT}${LISTEN} await new Promise(() => {});`, {
      limits: { stopGraceMs: 1, stopMarginMs: 1 },
    });
    await supervisor.start();
    expect(await supervisor.stop()).toBe(false);
  });

  test('of a shard that had to cut a request did not finish what was in flight', async () => {
    const { supervisor } = supervise(
      `${ADMIT}${LISTEN} await stop;
       tell({ kind: 'finished', hasCut: true }); await told('close'); tell({ kind: 'stopped' });`,
    );
    await supervisor.start();
    expect(await supervisor.stop()).toBe(false);
  });

  test('that the shard does not survive did not finish what was in flight', async () => {
    const { supervisor, restarts } = supervise(
      `${ADMIT}${LISTEN} await stop; throw new Error('late');`,
    );
    await supervisor.start();
    expect(await supervisor.stop()).toBe(false);
    expect(restarts()).toEqual([]);
  });

  test('during the pause before a restart leaves it at that', async () => {
    const { supervisor, logs, log } = supervise(`${ADMIT}${LISTEN} process.exit(1);`, {
      limits: { restartPauseMs: 1_000_000, restartPauseMaxMs: 1_000_000 },
    });
    await supervisor.start();
    await logs('the shard ended by itself and is started again', 1);
    const lines = log.length;
    expect(await supervisor.stop()).toBe(true);
    expect(log.length).toBe(lines);
  });

  test('during a restart ends the thread that is being started', async () => {
    // The first thread serves and ends; the second, which has to keep the port, never gets far.
    const { supervisor, logs, restarts } = supervise(
      `if (settings.address.port !== 0) {
         tell({ kind: 'log', entry: { level: 'info', message: 'the second' } });
         await new Promise(() => {});
       }
       ${ADMIT}${LISTEN} process.exit(1);`,
      { limits: { restartPauseMs: 1 } },
    );
    await supervisor.start();
    await logs('the second', 1);
    expect(await supervisor.stop()).toBe(true);
    expect(restarts()).toHaveLength(1);
  });
});

describe('a shard that ends by itself', () => {
  test('is started again on the port it had, with pauses that grow up to a limit', async () => {
    const { supervisor, logs, restarts, connects } = supervise(
      `${ADMIT}${LISTEN} throw new Error('again');`,
      { limits: { restartPauseMs: 1, restartPauseMaxMs: 4, restartHalfLifeMs: 1_000_000_000 } },
    );
    await supervisor.start();
    await logs('asked for port 4711', 4);
    await supervisor.stop();
    expect(
      restarts()
        .slice(0, 4)
        .map(({ fields }) => fields?.['pauseMs']),
    ).toEqual([1, 2, 4, 4]);
    expect(restarts()[0]!.fields?.['reason']).toMatch(/^Error: again/);
    expect(
      restarts()
        .slice(0, 4)
        .map(({ fields }) => fields?.['ends']),
    ).toEqual([1, 2, 3, 4]);
    expect(connects()).toBeGreaterThanOrEqual(5);
  });

  test('or says that it failed while it serves is started again', async () => {
    const { supervisor, logs, restarts } = supervise(
      `${ADMIT}${LISTEN}
       tell({ kind: 'failed', code: 'SVC_JOURNAL_UNAVAILABLE', message: 'It is gone.' });
       await new Promise(() => {});`,
      { limits: { restartPauseMs: 1 } },
    );
    await supervisor.start();
    await logs('asked for port 4711', 1);
    await supervisor.stop();
    expect(restarts()[0]!.fields?.['reason']).toBe('It is gone. [SVC_JOURNAL_UNAVAILABLE]');
  });

  test('and cannot be started again is tried again, with the reason in the log', async () => {
    const { supervisor, logs, restarts } = supervise(
      `if (settings.address.port !== 0)
         return tell({ kind: 'failed', code: 'SVC_PORT_IN_USE', message: 'Taken.' });
       ${ADMIT}${LISTEN} process.exit(1);`,
      { limits: { restartPauseMs: 1 } },
    );
    await supervisor.start();
    await logs('the shard could not be started and is tried again', 2);
    await supervisor.stop();
    expect(restarts()[1]!.fields?.['reason']).toBe('Taken. [SVC_PORT_IN_USE]');
  });
});
