// Whatever a process does, the runtime answers its callers with a named error, and is there for the next one.
import { createServer } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readProcess } from '../../../../host/hosting/process/process-source.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import type { CallContext } from '../../../../model/call.ts';
import type { GuestEntity, HostCalls } from '../../../../model/guest.ts';
import { connectionTo, guestAt } from '../../../process-sdk/typescript/support/served-guest.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';
import { FromProcessFrame } from '../../../../process-protocol/generated/svc/process/v1/process.ts';
import { messageOf } from '../../../../process-protocol/protocol.ts';
import { createEngine } from '../../../../host/engine/entity-engine.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { systemDigest, systemEventLoop } from '../../../../host/system.ts';
import {
  type FromFrame,
  greeting,
  type Script,
  scriptedProcess,
  welcome,
} from './support/scripted-process.ts';

const context: CallContext = { nowMs: 1_700_000_000_000, seed: 7n, metadata: [] };
const counter = (id: string) => ({ component: 'counter', id });

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (error instanceof SvcError) return `${error.code}: ${error.message}`;
    if (error instanceof GuestFault) return `${error.faultCause}: ${error.message}`;
    throw error;
  }
  return 'no error';
}

/** A guest of a scripted process, with an entity that is open. */
async function opened(script: Script, settings = {}) {
  const served = await scriptedProcess(greeting(script));
  const guest = await guestAt(connectionTo(served.address, settings));
  onTestFinished(async () => guest.close());
  const open = async (id = 'c1'): Promise<GuestEntity> =>
    guest.entities.open(counter(id), undefined);
  return { served, guest, open };
}

/** On a machine that is busy, a process may need long for its first frame. */
const reading = (address: string, connectTimeoutMs = 60_000) =>
  codeOf(readProcess(connectionTo(address, { connectTimeoutMs })));

const ADDED: FromFrame = {
  $case: 'effect',
  value: {
    events: [{ manifest: 'counter-event', json: '{"type":"added"}' }],
    deletesEntity: false,
    reply: 'null',
    repliesAfter: false,
    timers: [],
    problem: '',
  },
};

describe('the beginning of a stream', () => {
  test('to a port at which nobody listens is refused', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await reading(`127.0.0.1:${port}`)).toMatch(/^SVC_PROCESS_UNAVAILABLE: .*ECONNREFUSED/);
  });

  test('to a server of HTTP/1 is refused', async () => {
    const server = createHttpServer((_request, response) => response.end('hello')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await reading(`127.0.0.1:${port}`)).toMatch(/^SVC_PROCESS_UNAVAILABLE/);
  });

  test('to a process that accepts and says nothing ends in time', async () => {
    const { address } = await scriptedProcess(() => {});
    expect(await reading(address, 300)).toMatch(/has not answered within 300 ms/);
  });

  test('is given up when the service stops', async () => {
    const { address, received } = await scriptedProcess(() => {});
    const stop = new AbortController();
    const givenUp = codeOf(readProcess(connectionTo(address), stop.signal));
    await expect.poll(() => received.length).toBe(1);
    stop.abort();
    expect(await givenUp).toMatch(/^SVC_PROCESS_UNAVAILABLE: .*because the service stops/);
  });

  test('to a process that refuses has its reason', async () => {
    const { address } = await scriptedProcess((_frame, _call, stream) =>
      stream.answer(0, { $case: 'rejected', value: { reason: 'it is too old.' } }),
    );
    expect(await reading(address)).toBe(
      `SVC_PROCESS_INVALID: The process at ${address} cannot be served: it is too old.`,
    );
  });

  test.each([
    ['of another version', { version: 9 }, /speaks version 9/],
    ['that names no window', { window: undefined }, /names no window/],
    ['whose descriptor is no JSON', { descriptor: '{' }, /it is not JSON/],
    ['whose descriptor lacks its parts', { descriptor: '{}' }, /descriptor is not valid/],
    [
      'whose descriptor nests too deep',
      { descriptor: `${'['.repeat(100)}${']'.repeat(100)}` },
      /nests deeper/,
    ],
    ['whose descriptor is too large', { descriptor: ' '.repeat(1_048_577) }, /larger than/],
  ])('with a process %s is refused', async (_what, other, why) => {
    const { address } = await scriptedProcess((_frame, _call, stream) =>
      stream.answer(0, welcome(other)),
    );
    const said = await reading(address);
    expect(said).toMatch(/^SVC_PROCESS_INVALID/);
    expect(said).toMatch(why);
  });

  test('with a frame that is no welcome is refused', async () => {
    const { address } = await scriptedProcess((_frame, _call, stream) =>
      stream.answer(1, { $case: 'done', value: {} }),
    );
    expect(await reading(address)).toMatch(/its first frame is 'done'/);
  });
});

describe('a process that breaks the protocol', () => {
  test.each<[string, Script]>([
    [
      'a call that was not made',
      (_f, _c, stream) => stream.answer(99, { $case: 'done', value: {} }),
    ],
    [
      'a frame of another kind',
      (_f, call, stream) => stream.answer(call, { $case: 'keys', value: { events: [] } }),
    ],
    ['a second welcome', (_f, _c, stream) => stream.answer(0, welcome())],
    [
      'bytes that are no message',
      (_f, _c, stream) => stream.write(Buffer.from('\u000A\u00FF\u00FF\u00FF', 'latin1')),
    ],
    [
      'a refusal with a code that does not exist',
      (_f, call, stream) =>
        stream.answer(call, {
          $case: 'refusal',
          value: { code: 'MAYBE', otherCode: '', message: 'no', details: undefined },
        }),
    ],
    [
      'a message of several frames that is too large',
      (_f, _c, stream) => {
        const value = { level: 'info', message: 'x'.repeat(200_000), source: '' };
        const log = FromProcessFrame.encode({ call: 0, frame: { $case: 'log', value } }).finish();
        stream.write(messageOf([log, log]));
      },
    ],
  ])('with %s loses its stream, and is reached again', async (_what, script) => {
    let isOdd = true;
    const { open } = await opened((frame, call, stream) => {
      if (frame.$case !== 'query') return;
      if (isOdd) script(frame, call, stream);
      else stream.answer(call, { $case: 'reply', value: { json: '1' } });
    });
    const entity = await open();
    expect(await codeOf(Promise.resolve(entity.query(context, 'get', 'null')))).toMatch(
      /^SVC_PROCESS_UNAVAILABLE/,
    );
    expect(entity.lost).toBe(true);
    isOdd = false;
    await expect
      .poll(async () => {
        try {
          return await (await open()).query(context, 'get', 'null');
        } catch {
          return undefined;
        }
      })
      .toEqual({ kind: 'reply', json: '1' });
  });

  test('by an answer that comes twice is not believed the second time', async () => {
    const { open } = await opened((frame, call, stream) => {
      if (frame.$case !== 'query') return;
      stream.answer(call, { $case: 'reply', value: { json: String(call) } });
      stream.answer(call, { $case: 'reply', value: { json: '"twice"' } });
    });
    const entity = await open();
    expect(await entity.query(context, 'get', 'null')).toEqual({ kind: 'reply', json: '1' });
    expect(await entity.query(context, 'get', 'null')).toEqual({ kind: 'reply', json: '2' });
  });
});

describe('a process that is late', () => {
  test('loses the entity whose call it does not answer, and its late answer is dropped', async () => {
    const late: (() => void)[] = [];
    const { open, served } = await opened(
      (frame, call, stream) => {
        if (frame.$case !== 'query') return;
        const answer = () => stream.answer(call, { $case: 'reply', value: { json: '1' } });
        if (frame.value.input === '"late"') late.push(answer);
        else answer();
      },
      { commandTimeoutMs: 50 },
    );
    const [slow, quick] = [await open('slow'), await open('quick')];
    expect(await codeOf(Promise.resolve(slow.query(context, 'get', '"late"')))).toMatch(
      /^time: query 'get' of component 'counter' did not return within 50 ms/,
    );
    expect(slow.lost).toBe(true);
    expect(quick.lost).toBe(false);
    await expect
      .poll(() => served.received.some(({ frame }) => frame?.$case === 'cancel'))
      .toBe(true);
    for (const answer of late) answer();
    expect(await quick.query(context, 'get', 'null')).toEqual({ kind: 'reply', json: '1' });
  });

  test('and silent counts as dead', async () => {
    let isSilent = false;
    const served = await scriptedProcess((frame, call, stream) => {
      if (!isSilent) greeting(() => {})(frame, call, stream);
    });
    const guest = await guestAt(connectionTo(served.address, { silenceMs: 100 }));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open(counter('c1'), undefined);
    isSilent = true;
    expect(await codeOf(Promise.resolve(entity.query(context, 'get', 'null')))).toMatch(
      /^SVC_PROCESS_UNAVAILABLE: .*has been silent for 0.1 s/,
    );
  });

  test('to read is sent no more than the limit', async () => {
    const { open, served } = await opened(() => {}, { unsentBytesMax: 1_048_576 });
    const entities = await Promise.all(Array.from({ length: 12 }, (_, index) => open(`c${index}`)));
    served.stopReading();
    const input = JSON.stringify('x'.repeat(1_048_576));
    const outcomes = entities.map((entity) =>
      codeOf(Promise.resolve(entity.query(context, 'get', input))),
    );
    expect(await Promise.race(outcomes)).toMatch(/does not take what it is sent/);
  });
});

describe('a process that is lost', () => {
  const calls: HostCalls = {
    nowMs: () => context.nowMs,
    call: async () => ({ kind: 'reply', json: '1' }),
    ...WITHOUT_TIMERS,
    readEvents: () => [],
  };
  const request = {
    route: 0,
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'none' },
  } as const;
  const entityCall = {
    $case: 'entity',
    value: {
      ...counter('c1'),
      name: 'get',
      input: 'null',
      metadata: [],
      idempotencyKey: undefined,
    },
  } as const;

  test('has not done the command that was in it', async () => {
    const { open } = await opened((frame, _call, stream) => {
      if (frame.$case === 'command') stream.end();
    });
    const entity = await open();
    expect(await codeOf(Promise.resolve(entity.command(context, 'add', 'null')))).toMatch(
      /^SVC_PROCESS_UNAVAILABLE/,
    );
  });

  test('has its calls in the log', async () => {
    const served = await scriptedProcess(
      greeting((frame, _call, stream) => {
        if (frame.$case === 'command') stream.end();
      }),
    );
    const lines: string[] = [];
    const guest = await guestAt(connectionTo(served.address), ({ message }) => lines.push(message));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open(counter('c1'), undefined);
    await codeOf(Promise.resolve(entity.command(context, 'add', 'null')));
    expect(lines).toEqual([
      "the process has ended its connection (it has gone), and these calls were in it: command 'add' of component 'counter'",
    ]);
  });

  test('while a snapshot is taken does no harm to the engine', async () => {
    let snapshots = 0;
    const { guest } = await opened((frame, call, stream) => {
      if (frame.$case === 'command') stream.answer(call, ADDED);
      else if (frame.$case === 'apply') stream.answer(call, { $case: 'done', value: {} });
      else if (frame.$case === 'snapshot') {
        snapshots += 1;
        if (snapshots === 1) stream.end();
        else stream.answer(call, { $case: 'state', value: { json: '{"count":2}' } });
      }
    });
    const engine = createEngine({
      guest: { ...guest, fingerprint: 'one' },
      journal: new MemoryJournal(),
      clock: { nowMs: () => context.nowMs, monotonicMs: () => 1 },
      random: { next64: () => 1n },
      digest: systemDigest,
      eventLoop: systemEventLoop,
      limits: { snapshotIntervalEvents: 2, purityCheckInterval: 0, purityRefoldInterval: 0 },
      faultLog: () => {},
    });
    const add = async () => {
      try {
        return await engine.call(counter('c1'), 'add', 'null', []);
      } catch {
        return undefined;
      }
    };
    for (let count = 0; count < 6; count++)
      await expect.poll(add).toEqual({ kind: 'reply', json: 'null' });
    expect(snapshots).toBeGreaterThan(1);
    await engine.close();
  });

  test('has not done a handler that has called nobody', async () => {
    const { guest } = await opened((frame, _call, stream) => {
      if (frame.$case === 'handle') stream.end();
    });
    expect(await codeOf(Promise.resolve(guest.endpoints.handle(context, request, calls)))).toMatch(
      /^SVC_PROCESS_UNAVAILABLE/,
    );
  });

  test('leaves it open what a handler has done that had made a call', async () => {
    const { guest } = await opened((frame, call, stream) => {
      if (frame.$case === 'handle')
        stream.answer(call, { $case: 'hostCall', value: { number: 1, call: entityCall } });
      if (frame.$case === 'result') stream.end();
    });
    expect(await codeOf(Promise.resolve(guest.endpoints.handle(context, request, calls)))).toMatch(
      /^SVC_CALL_UNCERTAIN/,
    );
  });

  test('whose handlers make more calls than are allowed has broken the protocol', async () => {
    const { guest } = await opened(
      (frame, call, stream) => {
        if (frame.$case !== 'handle') return;
        for (let number = 1; number <= 3; number++)
          stream.answer(call, { $case: 'hostCall', value: { number, call: entityCall } });
      },
      { hostCallsMax: 2 },
    );
    const never = { ...calls, call: () => new Promise<never>(() => {}) };
    expect(await codeOf(Promise.resolve(guest.endpoints.handle(context, request, never)))).toMatch(
      /^SVC_CALL_UNCERTAIN: .*more than 2 calls under way/,
    );
  });

  test('and comes back with other code is not used', async () => {
    const served = await scriptedProcess((frame, call, stream) => {
      if (frame.$case === 'hello')
        stream.answer(0, welcome(stream.index < 2 ? {} : { fingerprint: 'other' }));
      else if (frame.$case === 'query') stream.end();
      else greeting(() => {})(frame, call, stream);
    });
    const guest = await guestAt(connectionTo(served.address));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open(counter('c1'), undefined);
    await codeOf(Promise.resolve(entity.query(context, 'get', 'null')));
    await expect
      .poll(() => codeOf((async () => guest.entities.open(counter('c1'), undefined))()))
      .toMatch(/has become another one/);
  });
});
