// NonSuspendingInstance with a real engine: a handler that would have to wait is replayed with the same results,
// nothing is done twice, and whatever a module does meanwhile, engine and entities stay intact.
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import type { MemoryImage } from '../../../../../host/hosting/wasm/instances/memory-image.ts';
import { HTTP_HANDLE } from '../../../../../host/hosting/wasm/instances/http-binding.ts';
import { NonSuspendingInstance } from '../../../../../host/hosting/wasm/instances/non-suspending-instance.ts';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { failureOf, turns } from '../../../../support/engine-under-test.ts';
import { routeOf, service } from '../support/asking-service.ts';
import { CONTEXT, entityRef, hostCalls, request } from '../support/live-guest.ts';

describe('a handler that has nothing to wait for', () => {
  test('is answered at once, and is asked for once', async () => {
    const { send, wake } = await service();
    await wake();
    expect(send('query')).toMatchObject({ status: 202 });
    expect(send('query')).toMatchObject({ status: 203 });
  });

  test.each([
    ['traps', 'trap', 'trap'],
    ['uses up its fuel', 'spin', 'fuel'],
  ] as const)(
    'that %s is a fault at once, and leaves entity and others alone',
    async (_, kind, cause) => {
      const { send, wake, faults } = await service({ handlerFuel: 100_000 });
      await wake();
      expect(() => send(kind)).toThrow(GuestFault);
      expect(() => send(kind)).toThrow(expect.objectContaining({ faultCause: cause }));
      expect(send('query')).toMatchObject({ status: 204 });
      expect(faults).toEqual([]);
    },
  );

  test('sees the fault of an entity as a value, and the entity comes back', async () => {
    const { send, wake, faults } = await service();
    await wake();
    expect(send('faulty')).toMatchObject({ status: 201 });
    expect(faults).toMatchObject([{ faultCause: 'trap' }]);
    // It is not in memory any more: a caller has to wait, and gets a fresh entity.
    const answer = send('query');
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toMatchObject({ status: 201 });
  });

  test('is answered once its command is on disk, which has then happened once', async () => {
    const { send, wake, journal, events } = await service();
    await wake();
    journal.held = true;
    let answered = false;
    const answer = Promise.resolve(send('both')).then((given) => {
      answered = true;
      return given;
    });
    await turns();
    expect([answered, journal.waitingCount]).toEqual([false, 1]);
    await journal.letAllThrough();
    expect(await answer).toMatchObject({ status: 200 });
    expect([journal.appendCount, await events()]).toEqual([1, 1]);
  });

  test('needs no instance to wait in, though its command does', async () => {
    const { send, wake, journal, events } = await service({
      endpointInstancesMax: 1,
      waitingRequestsMax: 0,
    });
    await wake();
    journal.held = true;
    const waiting = send('further');
    await expect(async () => send('read')).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
    const answers = [send('command'), send('command'), send('command')];
    await journal.letAllThrough();
    for (const answer of answers) expect(await answer).toMatchObject({ status: 200 });
    expect(await waiting).toMatchObject({ kind: 'response' });
    expect(await events()).toBe(4);
  });

  test('sees the failure instead, when the write fails, and nothing is stored', async () => {
    const { send, wake, journal, events, faults } = await service();
    await wake();
    journal.held = true;
    const answer = send('both');
    await journal.fail();
    // The tag of an error, which follows that of a reply.
    expect(await answer).toMatchObject({ status: 201 });
    expect([journal.appendCount, await events(), faults]).toEqual([1, 0, []]);
  });

  test('that traps behind its command is a fault at once; what it did is stored', async () => {
    const { send, wake, journal, events, faults } = await service();
    await wake();
    journal.held = true;
    expect(() => send('commandAndTrap')).toThrow(expect.objectContaining({ faultCause: 'trap' }));
    await journal.letAllThrough();
    expect([await events(), faults]).toEqual([1, []]);
    expect(send('query')).toMatchObject({ kind: 'response' });
  });

  test('has its own fuel and calls, whatever those before it had left', async () => {
    const { send, wake } = await service({ hostCallsMax: 1 });
    await wake();
    for (let turn = 0; turn < 3; turn++) expect(send('query')).toMatchObject({ kind: 'response' });
  });
});

describe('a handler that would have to wait', () => {
  test.each(['query', 'command', 'both', 'further', 'read'] as const)(
    'is served where it can: %s',
    async (kind) => {
      const { send } = await service();
      const answer = send(kind);
      expect(answer).toBeInstanceOf(Promise);
      expect(await answer).toMatchObject({ kind: 'response' });
    },
  );

  test('finds memory, its size and globals as they are at the beginning', async () => {
    const { send, wake } = await service();
    await wake();
    for (let turn = 0; turn < 3; turn++)
      expect(await send('visits', turn)).toMatchObject({ status: 200 + 10 + 3 });
    expect(send('query')).toMatchObject({ kind: 'response' });
  });

  test('is replayed with the same results, after the disk, and nothing is done twice', async () => {
    const { send, wake, journal, events } = await service();
    await wake();
    journal.held = true;
    const answer = send('further');
    await turns();
    expect(journal.appendCount).toBe(1);
    await journal.letAllThrough();
    // The query ran once after the command, and once when the entity was reopened.
    expect(await answer).toMatchObject({ status: 202 });
    expect([journal.appendCount, await events()]).toEqual([1, 1]);
  });

  test('is served when it has called, even when nobody may wait any more', async () => {
    const { send, wake, journal, events } = await service({
      endpointInstancesMax: 1,
      waitingRequestsMax: 0,
    });
    await wake();
    journal.held = true;
    // A refusal of the second request would mean that nothing was done.
    const answers = [send('further', 0), send('further', 1)];
    await journal.letAllThrough();
    for (const answer of answers) expect(await answer).toMatchObject({ kind: 'response' });
    expect(await events()).toBe(2);
  });

  test('is not tried again for a while, so that nothing is run twice for long', async () => {
    const { guest } = await service();
    let tried = 0;
    const serve = async () =>
      guest.endpoints.handle(
        CONTEXT,
        request(routeOf('query'), { parameters: ['a'] }),
        hostCalls({
          speculate: () => {
            tried++;
            return undefined;
          },
          call: () => ({ kind: 'reply', json: '1' }),
        }),
      );
    for (let turn = 0; turn < 101; turn++) await serve();
    expect(tried).toBe(1);
    await serve();
    expect(tried).toBe(2);
  });
});

describe('the stack that a handler shares with the host', () => {
  // Recursion depths around the deepest at which the handler can still call: at some of them the engine would fail on
  // its own.
  test.each(['deep', 'deepCommand'] as const)(
    'is never so short that the engine breaks off in the middle: %s',
    async (kind) => {
      const { send, wake, engine, faults, events } = await service();
      await wake();
      // After a fallback, the next requests of the route skip the fast path; here each request is the last of its
      // route.
      let turn = 0;
      const ends = new Set<string>();
      /** Whether it was served on this stack: a stack of its own is shorter, and the handler cannot call. */
      const dive = async (depth: number) => {
        const before = await events();
        const sent = (async () => send(kind, turn, 'q'.repeat(depth)))();
        const end = await sent.then(() => 'served', failureOf);
        ends.add(`${end}, ${(await events()) - before} stored`);
        if (end !== 'served') turn++;
        return end === 'served';
      };
      let depth = 4_000;
      while (await dive(depth)) depth += 100;
      // The code of the module may be recompiled meanwhile, which changes the size of its frames.
      while (!(await dive(depth))) depth -= 10;
      while (await dive(depth)) depth++;
      let served = 0;
      for (const bottom = depth - 100; depth > bottom; depth--) {
        if (await dive(depth)) served++;
        // A broken entity would neither answer at once nor answer callers that wait.
        expect(engine.speculate(entityRef('a'), 'get', 'null', [])).toHaveProperty('kind');
      }
      expect(served).toBeGreaterThan(50);
      expect([...ends]).toEqual([
        `served, ${kind === 'deepCommand' ? 1 : 0} stored`,
        'stack, 0 stored',
      ]);
      expect(faults).toEqual([]);
    },
  );

  test('when it is used up, the handler is served on one of its own', async () => {
    const { send, wake, faults } = await service();
    await wake();
    const answer = send('deep', 0, 'q'.repeat(1_000_000));
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).rejects.toThrow(expect.objectContaining({ faultCause: 'stack' }));
    expect(faults).toEqual([]);
    expect(send('query')).toMatchObject({ kind: 'response' });
  });
});

test('without memory for the instance, the others serve', () => {
  const full = new SvcError('SVC_OVERLOADED', 'There is no memory.');
  const noInstance = () => {
    throw full;
  };
  const fastPath = new NonSuspendingInstance(noInstance, {} as MemoryImage, HTTP_HANDLE, 1);
  const call = { context: CONTEXT, input: request(0), calls: hostCalls(), handler: 0, source: '' };
  expect(fastPath.serve(call)).toBeUndefined();
});

test('a closed module answers nothing more at once', async () => {
  const { guest, wake } = await service();
  await wake();
  await guest.close();
  expect(() => guest.endpoints.handle(CONTEXT, request(routeOf('read')), hostCalls())).toThrow(
    'The module was closed.',
  );
});

test('what the host throws by mistake is none of the module’s faults', async () => {
  const { guest } = await service();
  const calls: Partial<HostCalls> = {
    speculate: () => {
      throw new TypeError('a bug');
    },
  };
  const asked = request(routeOf('query'), { parameters: ['a'] });
  expect(() => guest.endpoints.handle(CONTEXT, asked, hostCalls(calls))).toThrow('a bug');
});

/** Calls whose answer arrives later. */
function elsewhere(times: number) {
  const told: string[] = [];
  const come = Promise.withResolvers<void>();
  let left = times;
  const calls: Partial<HostCalls> = {
    speculate: (_target, name) => {
      told.push(name);
      return left > 0 ? undefined : { kind: 'reply', json: '5' };
    },
    remoteAnswer: () => (left-- === times ? come.promise : undefined),
    beginReplay: () => {
      told.push('again');
      return true;
    },
    call: () => ({ kind: 'reply', json: '6' }),
  };
  return { calls: hostCalls(calls), told, come };
}

describe('a handler that waits for another shard', () => {
  const asked = request(routeOf('query'), { parameters: ['a'] });

  test('is served at once when the answer is there, and so is the next of its route', async () => {
    const { guest } = await service();
    const first = elsewhere(1);
    const answer = guest.endpoints.handle(CONTEXT, asked, first.calls);
    await turns();
    expect(first.told).toEqual(['get']);
    first.come.resolve();
    expect(await answer).toMatchObject({ status: 205 });
    expect(first.told).toEqual(['get', 'get']);
    const next = elsewhere(0);
    expect(guest.endpoints.handle(CONTEXT, asked, next.calls)).toMatchObject({ status: 205 });
  });

  test('a second time is served where it can wait', async () => {
    const { guest } = await service();
    const { calls, told, come } = elsewhere(2);
    const answer = guest.endpoints.handle(CONTEXT, asked, calls);
    come.resolve();
    expect(await answer).toMatchObject({ status: 206 });
    expect(told).toEqual(['get', 'get', 'again']);
  });

  test('fails when nobody waits for it any more, and when the module is closed meanwhile', async () => {
    const { guest } = await service();
    const cancelled = elsewhere(1);
    const answer = guest.endpoints.handle(CONTEXT, asked, cancelled.calls);
    cancelled.come.reject(new GuestFault('time', 'Too long.'));
    await expect(answer).rejects.toThrow('Too long.');
    const closed = elsewhere(1);
    const later = guest.endpoints.handle(CONTEXT, asked, closed.calls);
    await guest.close();
    closed.come.resolve();
    await expect(later).rejects.toThrow('The module was closed.');
    expect(closed.told).toEqual(['get']);
  });
});
