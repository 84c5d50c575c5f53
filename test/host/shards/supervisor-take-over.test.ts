// A thread with another module replaces the present one, with real threads that act as a shard would.
import { describe, expect, test } from 'vitest';
import type { GuestSource } from '../../../host/hosting/guest-source.ts';
import {
  ADMIT,
  descriptor,
  failsWith,
  LISTEN,
  SERVE,
  supervise,
} from '../../support/acting-service.ts';

const GRACE_MS = 100;
const says = (message: string) =>
  `tell({ kind: 'log', entry: { level: 'info', message: '${message}' } });`;
/** Serves and reports it; reports again when it has stopped, which takes a while. */
const named = (name: string) =>
  `${ADMIT}${LISTEN}${says(`${name} serves`)}
  await stop; await new Promise((resolve) => setTimeout(resolve, 50));
  ${says(`${name} stops`)} closeJournal(); tell({ kind: 'stopped' });`;

/** Serves, and does not stop. */
const STUBBORN = `${ADMIT}${LISTEN}${says('old serves')} await stop; await new Promise(() => {});`;

type Supervised = ReturnType<typeof supervise>;

async function stoodBy({ supervisor }: Supervised, program: string) {
  // oxlint-disable-next-line no-new-wrappers, unicorn/new-for-builtins -- the thread is given the text, the supervisor looks at the descriptor
  const text: unknown = Object.assign(new String(program), { descriptor });
  const source = text as GuestSource;
  const thread = supervisor.standBy(Promise.resolve(source));
  await thread.admitted;
  return { thread, source };
}

async function takeOver(service: Supervised, program: string): Promise<unknown> {
  const { thread, source } = await stoodBy(service, program);
  return service.supervisor.takeOver(thread, source, GRACE_MS);
}

const told = ({ log }: Supervised) =>
  log.map(({ message }) => message).filter((message) => / (serves|stops)$/.test(message));

describe('a thread that takes over', () => {
  test('serves once the present one has stopped, on its port, and that is no restart', async () => {
    const service = supervise(named('old'));
    await service.supervisor.start();
    expect(await takeOver(service, named('new'))).toEqual(descriptor);
    await service.logs('new serves', 1);
    expect(told(service)).toEqual(['old serves', 'old stops', 'new serves']);
    await service.logs('asked for port 4711', 1);
    expect(service.supervisor.serving).toEqual([true]);
    expect(service.restarts()).toEqual([]);
    expect(service.connects()).toBe(2);
    expect(await service.supervisor.stop()).toBe(true);
  });

  test('is ended by a stop, and so is the one before it', async () => {
    const service = supervise(STUBBORN, { limits: { stopMarginMs: 10 } });
    await service.supervisor.start();
    const { thread, source } = await stoodBy(service, named('new'));
    const taken = failsWith(service.supervisor.takeOver(thread, source, GRACE_MS));
    await service.supervisor.stop();
    expect(await taken).toMatchObject({ code: 'SVC_STOPPING' });
    expect(told(service)).toEqual(['old serves']);
    expect(service.restarts()).toEqual([]);
    expect(await failsWith(takeOver(service, named('new')))).toMatchObject({
      code: 'SVC_STOPPING',
    });
  });

  test('ends one that does not stop in its time', async () => {
    const service = supervise(STUBBORN, { limits: { stopMarginMs: 10 } });
    await service.supervisor.start();
    await takeOver(service, named('new'));
    await service.logs('new serves', 1);
    expect(service.restarts()).toEqual([]);
  });

  test('replaces one that waits to be started again', async () => {
    const service = supervise(`${ADMIT}${LISTEN} process.exit(1);`, {
      limits: { restartPauseMs: 1_000_000 },
    });
    await service.supervisor.start();
    await service.logs('the shard ended by itself and is started again', 1);
    await takeOver(service, named('new'));
    await service.logs('new serves', 1);
    expect(service.restarts()).toHaveLength(1);
    expect(service.supervisor.serving).toEqual([true]);
  });

  test('is what is started again from then on', async () => {
    const service = supervise(named('old'));
    await service.supervisor.start();
    await takeOver(
      service,
      `${ADMIT}${LISTEN}${says('new serves')} setTimeout(() => process.exit(1), 5);`,
    );
    await service.logs('new serves', 2);
    expect(told(service).filter((line) => line === 'old serves')).toHaveLength(1);
  });

  test('that cannot listen is retried, and its failure is reported', async () => {
    const service = supervise(SERVE, { limits: { restartPauseMs: 1 } });
    await service.supervisor.start();
    const failed = await failsWith(
      takeOver(
        service,
        `${ADMIT} tell({ kind: 'failed', code: 'SVC_PORT_IN_USE', message: 'It is taken.' });`,
      ),
    );
    expect(failed).toMatchObject({ code: 'SVC_PORT_IN_USE' });
    await service.logs('the shard could not be started and is tried again', 2);
  });
});

test('one that stands by for a module that is refused can be ended, and the service keeps serving', async () => {
  const service = supervise(named('old'));
  await service.supervisor.start();
  const thread = service.supervisor.standBy(Promise.reject(new Error('refused')));
  expect((await failsWith(thread.admitted))?.message).toBe('refused');
  await thread.end();
  expect(service.supervisor.serving).toEqual([true]);
  expect(told(service)).toEqual(['old serves']);
});
