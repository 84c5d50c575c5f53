// EndpointPool: the answers of a handler's imports, that a request leaves nothing behind, and that an instance serves
// one request at a time.
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { Reply } from '../../../../../model/call.ts';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { counter } from '../support/counter.ts';
import { guestModule } from '../support/guest-module.ts';
import { CONTEXT, faultOf, hostCalls, liveGuest, request } from '../support/live-guest.ts';

const text = (content: string) => ({ status: 200, body: { kind: 'text', text: content } });
const ROUTE = { echo: 0, call: 1, visit: 2, read: 3, grow: 4, spin: 5, abort: 6 } as const;

describe('a handler', () => {
  test('calls a component with everything that it was given', async () => {
    const { endpoints } = await liveGuest(counter);
    const heard: unknown[] = [];
    const calls = hostCalls({
      call: async (...parameters) => {
        heard.push(parameters);
        await Promise.resolve();
        return { kind: 'reply', json: '[1]' };
      },
    });
    const context = { ...CONTEXT, metadata: [['traceparent', '00-1']] as const };
    const answer = await endpoints.handle(
      context,
      request(ROUTE.call, { parameters: ['c1'] }),
      calls,
    );
    expect(answer).toMatchObject({ status: 200, body: { kind: 'json', text: '[1]' } });
    expect(heard).toEqual([
      [{ component: 'counter', id: 'c1' }, 'add', '{}', [['traceparent', '00-1']], 'odd'],
    ]);
  });

  test('continues at once when a call is answered at once', async () => {
    const { endpoints } = await liveGuest(counter);
    const calls = hostCalls({ call: () => ({ kind: 'reply', json: '{}' }) });
    const answer = await endpoints.handle(
      CONTEXT,
      request(ROUTE.call, { parameters: ['c'] }),
      calls,
    );
    expect(answer).toMatchObject({ status: 200 });
  });

  test('gets a refusal of a component as it is', async () => {
    const { endpoints } = await liveGuest(counter);
    const refused = {
      kind: 'refusal',
      code: 'OTHER',
      otherCode: 'odd',
      message: 'no',
      details: '{"a":1}',
    } as const;
    const plain = { kind: 'refusal', code: 'TOO_MANY_REQUESTS', message: 'later' } as const;
    for (const refusal of [refused, plain]) {
      const calls = hostCalls({ call: async () => refusal });
      const answer = endpoints.handle(CONTEXT, request(ROUTE.call, { parameters: ['c'] }), calls);
      expect(await answer).toEqual(refusal);
    }
  });

  test.each([
    ['SVC_OVERLOADED', 502, 'too much is waiting'],
    ['SVC_STOPPING', 502, 'the service is stopping'],
    ['SVC_JOURNAL_UNAVAILABLE', 502, 'the journal is unavailable'],
    ['SVC_ENTITY_HELD_BACK', 502, 'the entity fails and is held back for a while'],
    ['SVC_ANSWER_TIMED_OUT', 503, '3'],
    ['SVC_JOURNAL_CORRUPT', 504, 'the runtime failed with SVC_JOURNAL_CORRUPT'],
  ] as const)('sees %s as a value, without the host’s own message', async (code, status, said) => {
    const { endpoints } = await liveGuest(counter);
    const failure = new SvcError(code, 'a message with /a/path of the host');
    const failing: Partial<HostCalls>[] = [
      { call: () => Promise.reject(failure) },
      {
        call: () => {
          throw failure;
        },
      },
    ];
    for (const calls of failing) {
      const asked = request(ROUTE.call, { parameters: ['c'] });
      const answer = await endpoints.handle(CONTEXT, asked, hostCalls(calls));
      expect(answer).toMatchObject({ status, body: { text: said } });
    }
  });

  test('sees the fault of a component as a value, and continues', async () => {
    const { endpoints } = await liveGuest(counter);
    const calls = hostCalls({ call: () => Promise.reject(new GuestFault('fuel', 'all gone')) });
    const answer = await endpoints.handle(
      CONTEXT,
      request(ROUTE.call, { parameters: ['c'] }),
      calls,
    );
    expect(answer).toMatchObject({ status: 504, body: { text: 'the component took too long' } });
  });

  test('does not swallow an error that is a bug of the host', async () => {
    const { endpoints } = await liveGuest(counter);
    const calls = hostCalls({ call: () => Promise.reject(new TypeError('a bug')) });
    const asked = request(ROUTE.call, { parameters: ['c'] });
    await expect(async () => endpoints.handle(CONTEXT, asked, calls)).rejects.toThrow('a bug');
    expect(await endpoints.handle(CONTEXT, request(ROUTE.visit), calls)).toMatchObject(text('101'));
  });

  test('reads a journal in pages of 1 to 1,000', async () => {
    const { endpoints } = await liveGuest(counter);
    const heard: unknown[] = [];
    const calls = hostCalls({
      readEvents: async (...parameters) => {
        heard.push(parameters);
        return [{ kind: 'event', seq: 4, timeMs: 5, event: { manifest: 'm', json: '{"x":"ü"}' } }];
      },
    });
    const read = async (limit: number) =>
      endpoints.handle(CONTEXT, request(ROUTE.read, { query: 'q'.repeat(limit) }), calls);
    expect(await read(1000)).toMatchObject({ body: { kind: 'json', text: '{"x":"ü"}' } });
    expect(heard).toEqual([[{ component: 'counter', id: '1' }, 3, 1000]]);
    for (const limit of [0, 1001])
      expect(await read(limit)).toMatchObject(text('the limit must be 1 to 1000'));
    expect(heard).toHaveLength(1);
  });

  test('receives the error that a journal cannot be read', async () => {
    const { endpoints } = await liveGuest(counter);
    const failure = new SvcError('SVC_JOURNAL_CORRUPT', 'in /a/path');
    const calls = hostCalls({ readEvents: () => Promise.reject(failure) });
    const answer = await endpoints.handle(CONTEXT, request(ROUTE.read, { query: 'q' }), calls);
    expect(answer).toMatchObject(text('the runtime failed with SVC_JOURNAL_CORRUPT'));
  });

  test.each([
    ['spins', ROUTE.spin, 'fuel', undefined],
    ['aborts', ROUTE.abort, 'trap', 'abort: boom at counter.ts:3:5'],
  ])('that %s is a fault', async (_what, route, cause, words) => {
    const { endpoints } = await liveGuest(counter, { handlerFuel: 100_000 });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(route), hostCalls()));
    expect([fault.faultCause, fault.guestMessage]).toEqual([cause, words]);
    const next = await endpoints.handle(CONTEXT, request(ROUTE.visit), hostCalls());
    expect(next).toMatchObject(text('101'));
  });

  test('that recurses without end runs out of its stack', async () => {
    const { endpoints } = await liveGuest({
      fields: '(func $f (call $f) (call $f))',
      handle: '(call $f) (i32.const 16)',
    });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls()));
    expect(fault.faultCause).toBe('stack');
  });

  test('may call the host only so often', async () => {
    const handle = `(loop $l (drop (call $now-ms))
      (br_if $l (local.tee $query-length (i32.sub (local.get $query-length) (i32.const 1)))))
      (call $clear)`;
    const { endpoints } = await liveGuest({ handle }, { hostCallsMax: 100 });
    const ask = async (times: number) =>
      endpoints.handle(CONTEXT, request(0, { query: 'q'.repeat(times) }), hostCalls());
    expect(await ask(100)).toMatchObject({ kind: 'response' });
    expect(await faultOf(() => ask(101))).toMatchObject({ limit: 'host-calls' });
  });

  test.each([
    [
      'a name out of the memory',
      '(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256)',
    ],
    [
      'a list out of the memory',
      '(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 4096) (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256)',
    ],
    [
      'a wrong option',
      '(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 0) (i32.const 0) (i32.const 256)',
    ],
    [
      'a result out of the memory',
      '(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 131060)',
    ],
    [
      'an unaligned result',
      '(i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 257)',
    ],
  ])('that calls with %s is a fault, before the call is made', async (_what, parameters) => {
    const { endpoints } = await liveGuest({ handle: `(call $call ${parameters}) (i32.const 16)` });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls()));
    expect(fault.faultCause).toBe('value');
  });

  test.each([
    [
      'a journal',
      '(call $read (i32.const 4096) (i32.const 60000) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 256))',
    ],
    [
      'a component',
      `(call $call (i32.const 4096) (i32.const 60000) ${'(i32.const 0)'.repeat(11)} (i32.const 256))`,
    ],
  ])('that has the host read %s again and again runs out of fuel', async (_what, body) => {
    const { endpoints } = await liveGuest(
      { handle: `(loop $l ${body} (br $l)) unreachable` },
      { handlerFuel: 10_000_000 },
    );
    let made = 0;
    const calls = hostCalls({ call: () => (made++, { kind: 'reply', json: '' }) });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect(fault.faultCause).toBe('fuel');
    expect(made).toBeLessThan(10_000_000 / 60_000);
  });

  test.each(['at once', 'later'])(
    'that has the host put large replies there again and again runs out of fuel: %s',
    async (when) => {
      const body = `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`;
      const { endpoints } = await liveGuest(
        { realloc: '(i32.const 4096)', handle: `(loop $l ${body} (br $l)) unreachable` },
        { handlerFuel: 10_000_000 },
      );
      let made = 0;
      const reply = { kind: 'reply', json: 'x'.repeat(100_000) } as const;
      const call = () => (made++, when === 'later' ? Promise.resolve(reply) : reply);
      const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls({ call })));
      expect([fault.faultCause, made]).toEqual(['fuel', 100]);
    },
  );

  test('whose realloc calls the host while a reply is put there is a fault', async () => {
    const nested =
      '(call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256))';
    const { endpoints } = await liveGuest({
      realloc: `(if (i32.load (i32.const 8)) (then ${nested})) (i32.const 4096)`,
      handle: `(i32.store (i32.const 8) (i32.const 1)) ${nested} (i32.const 16)`,
    });
    let made = 0;
    const calls = hostCalls({
      call: async () => {
        made++;
        return { kind: 'reply', json: 'x' };
      },
    });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect([fault.faultCause, made]).toEqual(['trap', 1]);
  });
});

// Answers 200 with its size in pages, or with the last byte of the memory that it has grown by, which it then sets.
const grows = (pages: number) => ({
  handle: `(local $end i32)
    (drop (call $clear)) (drop (memory.grow (i32.const ${pages})))
    (local.set $end (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 1)))
    (i32.store16 (i32.const 20) (i32.add (i32.const 200)
      (i32.add (memory.size) (i32.load8_u (local.get $end)))))
    (i32.store8 (local.get $end) (i32.const 99)) (i32.const 16)`,
});

describe('an instance', () => {
  test('forgets what a request left in memory and in globals', async () => {
    const { endpoints } = await liveGuest(counter, { endpointInstancesMax: 1 });
    for (let turn = 0; turn < 5; turn++) {
      const answer = await endpoints.handle(CONTEXT, request(ROUTE.visit), hostCalls());
      expect(answer).toMatchObject(text('101'));
    }
  });

  test.each([
    ['is used again without its pages', 1, 1024],
    ['beyond the limit is thrown away', 5, 3],
    ['is thrown away where none is kept', 1, 0],
  ])('whose memory has grown %s', async (_what, pages, reusedPagesMax) => {
    const { endpoints } = await liveGuest(grows(pages), {
      endpointInstancesMax: 1,
      reusedPagesMax,
    });
    const first = await endpoints.handle(CONTEXT, request(0), hostCalls());
    expect(first).toMatchObject({ kind: 'response' });
    for (let turn = 0; turn < 300; turn++)
      expect(await endpoints.handle(CONTEXT, request(0), hostCalls())).toEqual(first);
  });

  test('serves one request at a time, and the others wait in order', async () => {
    const { endpoints } = await liveGuest(counter, { endpointInstancesMax: 1 });
    const replies: ((json: string) => void)[] = [];
    const calls = hostCalls({
      call: () =>
        new Promise((resolve) => {
          replies.push((json) => resolve({ kind: 'reply', json }));
        }),
    });
    const ask = async () =>
      endpoints.handle(CONTEXT, request(ROUTE.call, { parameters: ['c'] }), calls);
    const answers = [ask(), ask(), ask()];
    for (const [turn, answer] of answers.entries()) {
      await expect.poll(() => replies.length).toBe(turn + 1);
      replies[turn]!(`[${turn}]`);
      expect(await answer).toMatchObject({ body: { text: `[${turn}]` } });
    }
  });

  test('is one of several, so that requests that wait for the host overlap', async () => {
    const { endpoints } = await liveGuest(counter, { endpointInstancesMax: 4 });
    const waiting: (() => void)[] = [];
    const calls = hostCalls({
      call: (target) =>
        new Promise((resolve) => {
          waiting.push(() => resolve({ kind: 'reply', json: target.id }));
        }),
    });
    const ids = ['0', '1', '2', '3'];
    const answers = ids.map(async (id) =>
      endpoints.handle(CONTEXT, request(ROUTE.call, { parameters: [id] }), calls),
    );
    await expect.poll(() => waiting.length).toBe(4);
    for (const proceed of waiting.toReversed()) proceed();
    expect(await Promise.all(answers)).toMatchObject(ids.map((id) => ({ body: { text: id } })));
  });

  test('that faults while others wait is replaced for them', async () => {
    const { endpoints } = await liveGuest(counter, {
      endpointInstancesMax: 1,
      handlerFuel: 50_000,
    });
    const spin = faultOf(() => endpoints.handle(CONTEXT, request(ROUTE.spin), hostCalls()));
    const next = endpoints.handle(CONTEXT, request(ROUTE.visit), hostCalls());
    expect((await spin).faultCause).toBe('fuel');
    expect(await next).toMatchObject(text('101'));
  });
});

describe('the pool', () => {
  test.each([
    [
      'an answer',
      '(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 204)) (i32.const 16)',
    ],
    ['a fault', 'unreachable'],
  ])('goes on after a log that fails with %s', async (_what, rest) => {
    const parts = {
      ...counter,
      handle: `(call $line (i32.const 1) (i32.const 1110) (i32.const 5)) ${rest}`,
    };
    const limits = { ...WASM_LIMITS_DEFAULT, endpointInstancesMax: 1 };
    const guest = await createWasmGuest(await guestModule(parts), limits, () => {
      throw new Error('the log is full');
    });
    for (let turn = 0; turn < 3; turn++)
      await expect(async () =>
        guest.endpoints.handle(CONTEXT, request(0), hostCalls()),
      ).rejects.toThrow('the log is full');
  });

  test('refuses more waiting requests than it may have', async () => {
    const guest = await liveGuest(counter, {
      endpointInstancesMax: 1,
      waitingRequestsMax: 1,
    });
    const calls = hostCalls({ call: () => new Promise(() => {}) });
    const ask = async () =>
      guest.endpoints.handle(CONTEXT, request(ROUTE.call, { parameters: ['c'] }), calls);
    const served = faultOf(ask);
    const waiting = faultOf(ask);
    await expect(ask).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
    await guest.close();
    expect((await served).message).toContain('closed');
    expect((await waiting).message).toContain('closed');
  });

  test('when closed fails a handler that waits, which makes no further calls', async () => {
    const call = `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`;
    const line = '(call $line (i32.const 1) (i32.const 1110) (i32.const 5))';
    const handle = `${line} ${call} ${call} (i32.const 16)`;
    const guest = await liveGuest({ ...counter, handle });
    const { promise, resolve } = Promise.withResolvers<Reply>();
    let made = 0;
    const calls = hostCalls({
      call: () => {
        made++;
        return promise;
      },
    });
    const served = faultOf(() => guest.endpoints.handle(CONTEXT, request(0), calls));
    await guest.close();
    expect((await served).faultCause).toBe('trap');
    resolve({ kind: 'reply', json: '{}' });
    await new Promise((turn) => {
      setImmediate(turn);
    });
    // It is not asked for its last log lines either.
    expect([made, guest.lines]).toEqual([1, []]);
  });
});
