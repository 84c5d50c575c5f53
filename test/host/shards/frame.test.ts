import { expect, test } from 'vitest';
import {
  type ForwardedCall,
  type FrameOutcome,
  type Frames,
  readFrames,
  writeCall,
  writeCost,
  writeFailure,
  writeCancel,
  writeOutcome,
} from '../../../host/shards/frame.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { SvcError } from '../../../kit/svc-error.ts';

type Read = readonly [what: string, number: number, value: unknown];

/** Returns the frames as the other end of a port reads them. */
function read(frames: Frames, logged: boolean[] = []): Read[] {
  const found: Read[] = [];
  readFrames(structuredClone(frames), {
    call: (number, call) => found.push(['call', number, call]),
    outcome: (number, outcome) => found.push(['outcome', number, outcome]),
    failure: (number, failure, isLogged) => {
      found.push(['failure', number, failure]);
      logged.push(isLogged);
    },
    request: (number) => found.push(['request', number, undefined]),
    cost: (number, cost) => found.push(['cost', number, cost]),
    cancel: (number, reason) => found.push(['cancel', number, reason]),
    taken: (number) => found.push(['taken', number, undefined]),
  });
  return found;
}

const CALLS: readonly ForwardedCall[] = [
  [{ component: 'counter', id: 'a' }, 'add', '{"amount":1}', [], undefined],
  [
    { component: 'größe', id: '🛒' },
    'add-item',
    '',
    [
      ['traceparent', '00-1-2-01'],
      ['', ''],
    ],
    'key',
  ],
  // The engine refuses an unpaired surrogate; the frame carries it unchanged.
  [{ component: 'counter', id: '\ud800' }, 'x', '\u0000', [['a', 'b']], ''],
];
const OUTCOMES: readonly FrameOutcome[] = [
  { kind: 'reply', json: '{"value":1}' },
  { kind: 'refusal', code: 'CONFLICT', message: 'taken' },
  { kind: 'refusal', code: 'OTHER', otherCode: 'MINE', message: '', details: '{}' },
  { kind: 'response', status: 204, headers: [], body: { kind: 'none' } },
  {
    kind: 'response',
    status: 200,
    headers: [['a', '€']],
    body: { kind: 'json', text: '"\ud83d\uded2"' },
  },
  { kind: 'response', status: 200, headers: [], body: { kind: 'text', text: '' } },
  {
    kind: 'response',
    status: 200,
    headers: [],
    body: { kind: 'bytes', bytes: Uint8Array.of(0, 255) },
  },
];

test('calls and outcomes of a turn come out as they went in, in their order', () => {
  const frames: Frames = [];
  CALLS.forEach((call, number) => writeCall(frames, number, call));
  OUTCOMES.forEach((outcome, number) => writeOutcome(frames, number + 100, outcome));
  writeCall(frames, 3, CALLS[0]!);
  expect(read(frames)).toEqual([
    ...CALLS.map((call, number) => ['call', number, call]),
    ...OUTCOMES.map((outcome, number) => ['outcome', number + 100, outcome]),
    ['call', 3, CALLS[0]],
  ]);
});

test('the cost of a request, and its cancellation, are read as they were written', () => {
  const frames: Frames = [];
  const reason = new GuestFault('time', 'Late.', { limit: 'request-time' });
  writeCost(frames, 1, { fuel: 2 ** 40, wasMisrouted: true });
  writeCost(frames, 2, { fuel: 0, wasMisrouted: false });
  writeCancel(frames, 3, reason);
  writeCancel(frames, 4, new GuestFault('trap', ''));
  expect(read(frames)).toEqual([
    ['cost', 1, { fuel: 2 ** 40, wasMisrouted: true }],
    ['cost', 2, { fuel: 0, wasMisrouted: false }],
    ['cancel', 3, reason],
    ['cancel', 4, new GuestFault('trap', '')],
  ]);
  expect(read(frames)[2]![2]).toMatchObject({ faultCause: 'time', limit: 'request-time' });
});

const FRAMES = [
  { functionIndex: 12, offset: 6699 },
  { functionIndex: 0, offset: 512 },
];

test('a failure is read with its code or cause, its message, its limit and its frames', () => {
  const frames: Frames = [];
  writeFailure(
    frames,
    1,
    new SvcError('SVC_JOURNAL_FULL', 'Full.', { cause: new Error('why') }),
    true,
  );
  writeFailure(
    frames,
    2,
    new GuestFault('fuel', 'Out.', {
      limit: 'command-fuel',
      guestMessage: 'a',
      logLines: ['one', '', 'three\nfour'],
      frames: FRAMES,
    }),
    false,
  );
  writeFailure(frames, 3, new GuestFault('trap', 'Trapped.'), true);
  writeFailure(frames, 4, new TypeError('a bug'), true);
  writeFailure(frames, 5, 'thrown', true);
  writeFailure(frames, 6, new SvcError('SVC_ENTITY_HELD_BACK', 'Held.', { retryAfterMs: 7 }), true);
  writeFailure(frames, 7, new SvcError('SVC_STOPPING', 'Stopping.'), true);
  const logged: boolean[] = [];
  const failures = read(frames, logged).map(([, , failure]) => failure as Error);
  expect(logged).toEqual([true, false, true, true, true, true, true]);
  expect(failures[0]).toBeInstanceOf(SvcError);
  expect(failures[0]).toMatchObject({
    code: 'SVC_JOURNAL_FULL',
    message: 'Full.',
    retryAfterMs: undefined,
  });
  expect(failures[1]).toBeInstanceOf(GuestFault);
  expect(failures[1]).toMatchObject({
    faultCause: 'fuel',
    message: 'Out.',
    limit: 'command-fuel',
    guestMessage: 'a',
    logLines: ['one', '', 'three\nfour'],
    frames: FRAMES,
  });
  expect(failures[2]).toMatchObject({
    faultCause: 'trap',
    limit: undefined,
    logLines: undefined,
    frames: undefined,
  });
  expect(failures[3]!.message).toMatch(/^TypeError: a bug\n {4}at /);
  expect(failures[4]!.message).toBe('thrown');
  expect(failures[5]).toMatchObject({ code: 'SVC_ENTITY_HELD_BACK', retryAfterMs: 7 });
  expect(failures[6]).toMatchObject({ code: 'SVC_STOPPING', message: 'Stopping.' });
});
