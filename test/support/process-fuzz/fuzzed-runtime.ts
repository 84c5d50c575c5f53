// FuzzedRuntime: the runtime's side of a process that answers with mutated frames. Each call has to end in time, with a value or an error that has a name, and the
// engine goes on.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { CallContext } from '../../../model/call.ts';
import type { EntityEvent } from '../../../model/entity.ts';
import type { Guest, HostCalls } from '../../../model/guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { createEngine, type EntityEngine } from '../../../host/engine/entity-engine.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { systemDigest, systemEventLoop } from '../../../host/system.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import {
  type Script,
  scriptedProcess,
  type ToFrame,
} from '../../host/hosting/process/support/scripted-process.ts';
import { connectionTo, guestAt } from '../../process-sdk/typescript/support/served-guest.ts';
import type { Json, JsonObject } from '../../suites/process-protocol/frame-text.ts';
import type { Random } from '../random.ts';
import { within } from '../within.ts';
import { mutatedMessages } from './frame-mutations.ts';
import type { FuzzReport } from './fuzzed-sdk.ts';

const BOUND_S = 60;
const SHARES = { frames: 100, bytes: 4 };
const HELLO_SHARES = { frames: 20, bytes: 5 };
const ATTEMPTS = 30;
const IDS = 20;
/** Calls of one engine, whose journal is in memory. */
const CALLS_PER_ENGINE = 4_000;
/** Pause of a caller that has met a process which is away. */
const AWAY_MS = 5;
const SETTINGS = {
  connectTimeoutMs: 1_000,
  silenceMs: 2_000,
  foldTimeoutMs: 100,
  commandTimeoutMs: 100,
  handlerTimeoutMs: 100,
  reconnectMaxMs: 50,
  hostCallsMax: 50,
};
const EVENT = { manifest: 'tally-event', json: '{"type":"added","amount":1}' };
const REFUSAL = { code: 'CONFLICT', message: 'not now' };
const TIMER = {
  name: 'remind',
  component: 'tally',
  id: 't1',
  command: 'nothing',
  input: 'null',
  afterMs: 60_000,
};
const STATE = '{"total":1,"notes":[]}';
const RESPONSE = { status: 200, headers: [{ name: 'x-a', value: 'b' }], body: { json: '1' } };

/** Answers to each kind of call. Each is right for some call. */
const ANSWERS: Readonly<Record<string, readonly JsonObject[]>> = {
  open: [{ done: {} }],
  apply: [{ done: {} }, { done: {} }, { problem: { message: 'it does not decode' } }],
  command: [
    { effect: { events: [EVENT], reply: '1' } },
    {
      effect: {
        events: [EVENT, EVENT],
        reply: '2',
        repliesAfter: true,
        timers: [{ set: TIMER }, { cancel: 'a' }],
      },
    },
    { effect: { events: [EVENT], reply: 'null', problem: 'it does not decode' } },
    { effect: { deletesEntity: true, reply: 'null' } },
    { refusal: REFUSAL },
    { fault: { cause: 'trap', message: 'it failed', stack: 'at a' } },
  ],
  query: [{ reply: { json: '1' } }, { reply: { json: '"a"' } }, { refusal: REFUSAL }],
  snapshot: [{ state: { json: STATE } }],
  handle: [{ response: RESPONSE }, { refusal: REFUSAL }, { passed: { number: 1 } }],
  consume: [
    { verdict: { done: {} } },
    { verdict: { retry: { reason: 'later', afterMs: 5 } } },
    { verdict: { skip: 'why' } },
    { refusal: REFUSAL },
  ],
  viewKeys: [{ keys: { events: [{ keys: ['a', 'b'] }] } }, { problem: { message: 'no' } }],
  viewFold: [
    { rows: { rows: [{ key: 'a', json: '{"total":1}' }] } },
    { problem: { message: 'no' } },
  ],
};
const ENTITY = { component: 'tally', id: 't1' };
/** Calls of handlers. */
const HOST_CALLS: readonly JsonObject[] = [
  { number: 1, entity: { ...ENTITY, name: 'get', input: 'null' } },
  {
    number: 2,
    entity: {
      ...ENTITY,
      name: 'add',
      input: '{"amount":1}',
      metadata: [{ name: 'a', value: 'b' }],
      idempotencyKey: 'k',
    },
  },
  { number: 3, readEvents: { ...ENTITY, afterSeq: 0, limit: 10 } },
  { number: 4, setTimer: TIMER },
  { number: 5, cancelTimer: { ...ENTITY, name: 'remind' } },
  {
    number: 6,
    request: { service: 'rates', method: 'GET', path: '/', headers: [{ name: 'a', value: 'b' }] },
  },
  {
    number: 7,
    find: { view: 'totals', query: 'large', input: '{"least":1}', limit: 5, cursor: 'c' },
  },
  { number: 8, scopeKeys: { scope: 'ann' } },
];
const OTHERS: readonly JsonObject[] = [
  ...Object.values(ANSWERS).flat(),
  ...HOST_CALLS.map((hostCall) => ({ call: 1, hostCall })),
  { log: { level: 'info', message: 'a line', source: 'component tally' } },
  { pong: { number: 1 } },
  { credit: { bytes: 100 } },
  { rejected: { reason: 'no' } },
  { later: { text: 'a frame of a later version' } },
];

const context: CallContext = { nowMs: 1_700_000_000_000, seed: 7n, metadata: [] };
const request = {
  route: 0,
  parameters: ['t1'],
  query: '',
  headers: [],
  caller: 'local',
  body: { kind: 'none' },
} as const;
const event: EntityEvent = { entity: ENTITY, seq: 1, timeMs: 1_700_000_000_000, event: EVENT };
const rows = [
  { key: 'a', json: undefined },
  { key: 'b', json: '{"total":1}' },
];

export interface RuntimeFuzz {
  readonly random: Random;
  readonly frames: number;
  readonly lanes: number;
  /** The first frame of the process. */
  readonly welcome: JsonObject;
}

/** Lets a process send about this many frames to a runtime. Throws if a call does not end, or ends with another error. */
export async function fuzzRuntime({
  random,
  frames,
  lanes,
  welcome,
}: RuntimeFuzz): Promise<FuzzReport> {
  const report = { frames: 0, streams: 0 };
  const script: Script = (frame, call, stream) => {
    // The first stream, on which the runtime reads the descriptor, is that of a process as it should be.
    const shares =
      report.streams === 0
        ? { frames: 0, bytes: 0 }
        : frame.$case === 'hello'
          ? HELLO_SHARES
          : SHARES;
    if (frame.$case === 'hello') report.streams += 1;
    const { messages, count } = mutatedMessages(
      random,
      'FromProcess',
      answersTo(frame, call, random, welcome),
      OTHERS,
      shares,
    );
    report.frames += count;
    for (const message of messages) stream.write(message);
  };
  const served = await scriptedProcess(script, { keepsReceived: false });
  const guest = await started(served.address);
  let calls = 0;
  try {
    while (report.frames < frames) {
      const engine = engineOf(guest);
      const until = calls + CALLS_PER_ENGINE;
      const lane = async (): Promise<void> => {
        while (calls < until && report.frames < frames) {
          calls += 1;
          const run = random.below(CALLS.length);
          // oxlint-disable-next-line no-await-in-loop -- a lane makes one call at a time
          await within(
            BOUND_S,
            `the end of call ${run}`,
            settled(() => CALLS[run]!(guest, engine, random)),
          );
        }
      };
      // oxlint-disable-next-line no-await-in-loop -- one engine after the other
      await Promise.all(Array.from({ length: lanes }, lane));
      // oxlint-disable-next-line no-await-in-loop -- one engine after the other
      await within(BOUND_S, 'the end of the engine', engine.close());
    }
  } finally {
    await guest.close();
  }
  return report;
}

/** Starts a guest, on a machine that may be slow. */
async function started(address: string): Promise<Guest> {
  for (let attempt = 1; ; attempt++)
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      return await guestAt(connectionTo(address, SETTINGS));
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
}

function answersTo(
  frame: ToFrame,
  call: number,
  random: Random,
  welcome: JsonObject,
): readonly JsonObject[] {
  if (frame.$case === 'hello') return [welcome];
  if (frame.$case === 'ping') return [{ pong: { number: frame.value.number } }];
  const answers = ANSWERS[frame.$case];
  if (answers === undefined || call === 0) return random.chance(5) ? [random.pick(OTHERS)] : [];
  const made: JsonObject[] = [];
  if (frame.$case === 'handle' || frame.$case === 'consume')
    for (let count = random.below(4); count > 0; count--)
      made.push({ call, hostCall: { ...random.pick(HOST_CALLS), number: 1 + random.below(100) } });
  return [...made, { call, ...random.pick(answers) }];
}

function engineOf(guest: Guest): EntityEngine {
  return createEngine({
    guest: { ...guest, fingerprint: 'one' },
    journal: new MemoryJournal(),
    clock: { nowMs: () => context.nowMs, monotonicMs: () => 1 },
    random: { next64: () => 1n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    limits: { snapshotIntervalEvents: 5, liveEntitiesMax: IDS / 2 },
    faultLog: () => {},
  });
}

const CALLS: readonly ((guest: Guest, engine: EntityEngine, random: Random) => unknown)[] = [
  (_guest, engine, random) => engine.call(entityOf(random), 'add', '{"amount":1}', []),
  (_guest, engine, random) => engine.call(entityOf(random), 'add', '{"amount":1}', []),
  (_guest, engine, random) => engine.call(entityOf(random), 'get', 'null', []),
  ({ endpoints }, engine) => endpoints.handle(context, request, callsOf(engine)),
  ({ consumers }, engine) => consumers!.handle(context, 'mirror', event, callsOf(engine)),
  ({ views }) => views!.keys('totals', [event]),
  ({ views }) => views!.fold('totals', rows, [{ event, rows: [0, 1] }]),
];

const entityOf = (random: Random) => ({ component: 'tally', id: `t${random.below(IDS)}` });

const away = () => Promise.reject(new SvcError('SVC_OVERLOADED', 'it is away'));

function callsOf(engine: EntityEngine): HostCalls {
  return {
    nowMs: () => context.nowMs,
    call: (target, name, input, metadata, idempotencyKey) =>
      engine.call(target, name, input, metadata, idempotencyKey),
    readEvents: () => [],
    setTimer: async () => {},
    cancelTimer: async () => {},
    request: away,
    find: () => ({ rows: ['{"total":1}'], cursor: undefined, asOfMs: undefined }),
    scopeKeys: () => {},
  };
}

/** Resolves when the call has ended as it may. */
async function settled(run: () => unknown): Promise<void> {
  let value: unknown;
  try {
    value = await run();
  } catch (error) {
    assert(error instanceof GuestFault || error instanceof SvcError, error as Error);
    if (error instanceof SvcError && error.code === 'SVC_PROCESS_UNAVAILABLE') await delay(AWAY_MS);
    // A process that takes frames of a few bytes only fails each call at once: callers that asked without a pause would let nothing else run.
    else await nextTurn();
    return;
  }
  assert(isValue(value as Json), `a call was answered with ${JSON.stringify(value)}`);
}

function isValue(value: Json): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { kind } = value as JsonObject;
  return ['reply', 'refusal', 'response', 'done', 'retry', 'skip'].includes(kind as string);
}
