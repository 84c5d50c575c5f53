// CheckedFrames: frames that this runtime writes pass, and any that is changed is refused with a reason.
import { expect, test } from 'vitest';
import { checkFrames } from '../../../host/remoting/checked-frames.ts';
import type { Scalar } from '../../../host/remoting/flat-list.ts';
import { RefusedMessage } from '../../../host/remoting/refused-message.ts';
import {
  FRAME_KINDS as KIND,
  type Frames,
  writeCall,
  writeCancel,
  writeCost,
  writeFailure,
  writeHead,
  writeLook,
  writeOutcome,
  writeRequest,
  writeTaken,
} from '../../../host/shards/frame.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { GuestFault } from '../../../model/guest-fault.ts';

const ROUTES = [1, 0];
const SERVING = { serves: true, routes: ROUTES };
const CALLING = { serves: false, routes: undefined };

function written(...writes: ((frames: Frames) => unknown)[]): Frames {
  const frames: Frames = [];
  for (const write of writes) write(frames);
  return frames;
}

const REQUEST = {
  route: 0,
  parameters: ['a'],
  query: '',
  headers: [['accept', '*/*']],
  caller: 'internet',
  body: { kind: 'bytes', bytes: Uint8Array.of(1) },
} as const;
const asked = written(
  (frames) => writeCall(frames, 1, [{ component: 'c', id: 'a' }, 'x', '1', [['a', 'b']], 'key']),
  (frames) => writeRequest(frames, 2, REQUEST, [['a', 'b']]),
  (frames) =>
    writeRequest(frames, 3, { ...REQUEST, route: 1, parameters: [], body: { kind: 'none' } }, []),
  (frames) => writeCancel(frames, 2, new GuestFault('time', 'Late.', { limit: 'request-time' })),
  (frames) => writeTaken(frames, 3),
  writeLook,
);
const answered = written(
  (frames) => writeHead(frames, 1023, 2 ** 40),
  (frames) => writeOutcome(frames, 1, { kind: 'reply', json: '1' }),
  (frames) =>
    writeOutcome(frames, 2, { kind: 'refusal', code: 'OTHER', otherCode: 'A', message: '' }),
  (frames) => writeCost(frames, 3, { fuel: 2 ** 40, wasMisrouted: true }),
  (frames) =>
    writeOutcome(frames, 3, {
      kind: 'response',
      status: 599,
      headers: [['a', 'b']],
      body: { kind: 'text', text: 'a' },
    }),
  (frames) =>
    writeFailure(frames, 4, new SvcError('SVC_STOPPING', 'Stop.', { retryAfterMs: 1.5 }), true),
  (frames) =>
    writeFailure(
      frames,
      5,
      new GuestFault('trap', 'T.', {
        logLines: ['a', 'b'],
        frames: [{ functionIndex: 1, offset: 2 }],
      }),
      false,
    ),
  (frames) => writeFailure(frames, 6, new TypeError('a bug'), true),
  writeLook,
);

test('all frames that a side may send pass, and stay as they are', () => {
  for (const [frames, side] of [
    [asked, SERVING],
    [answered, CALLING],
  ] as const) {
    const checked = [...frames];
    checkFrames(checked, side);
    expect(checked).toEqual(frames);
  }
});

test('a side takes only the frames of the other part', () => {
  expect(() => checkFrames([...asked], CALLING)).toThrow('which this side does not take');
  expect(() => checkFrames([...answered], SERVING)).toThrow('which this side does not take');
  expect(() => checkFrames([KIND.head, 0, 0], SERVING)).toThrow('which this side does not take');
});

test('frames that end too early are refused at every length', () => {
  for (const [frames, side] of [
    [asked, SERVING],
    [answered, CALLING],
  ] as const) {
    const reasonAt = (length: number): string => {
      try {
        checkFrames(frames.slice(0, length), side);
        return 'complete';
      } catch (error) {
        return error instanceof RefusedMessage ? error.message : String(error);
      }
    };
    const reasons = frames.map((_, length) => reasonAt(length));
    expect(new Set(reasons)).toEqual(new Set(['complete', 'sent a frame that ends too early']));
    const complete = reasons.filter((reason) => reason === 'complete').length;
    expect(complete).toBe(side.serves ? 6 : 9);
  }
});

const call = (change: (frames: Scalar[]) => void): Scalar[] => {
  const frames: Scalar[] = [KIND.call, 1, 'c', 'a', 'x', '1', null, 1, 'a', 'b'];
  change(frames);
  return frames;
};
const request = (change: (frames: Scalar[]) => void): Scalar[] => {
  const frames = written((to) => writeRequest(to, 2, REQUEST, []));
  change(frames);
  return frames;
};
const at =
  (index: number, value: Scalar) =>
  (frames: Scalar[]): void => {
    frames[index] = value;
  };

test.each([
  ['a kind that does not exist', call(at(0, 13))],
  ['a kind that is a text', call(at(0, 'call'))],
  ['a number of a call beyond 31 bits', call(at(1, 2 ** 31))],
  ['a negative number', call(at(1, -1))],
  ['a broken number', call(at(1, 0.5))],
  ['a number that is none', call(at(1, NaN))],
  ['a component that is a number', call(at(2, 1))],
  ['an input that is bytes', call(at(5, new Uint8Array(2)))],
  ['an input that is missing', call(at(5, null))],
  ['a key that is a number', call(at(6, 1))],
  ['metadata of too many pairs', call(at(7, 2 ** 31 - 1))],
  ['a route that does not exist', request(at(2, 2))],
  ['other parameters than the route has', request(at(8, 0))],
  ['a body of another kind than its content', request(at(6, 'text'))],
  ['a body of no kind', request(at(6, 'unread'))],
  [
    'a body of JSON that is no well-formed Unicode',
    request((f) => f.splice(6, 2, 'json', '\ud800')),
  ],
  ['a cancellation for no cause', [KIND.cancel, 1, 'mood', '', null]],
])('%s is refused by the side that serves', (_, frames) => {
  expect(() => checkFrames(frames, SERVING)).toThrow(RefusedMessage);
});

test.each([
  ['a refusal with an unknown code', [KIND.refusal, 1, 'NO', '', null, null]],
  ['an error whose code is none', [KIND.svcError, 1, 'svc', '', null]],
  ['an error with an endless time', [KIND.svcError, 1, 'SVC_STOPPING', '', Infinity]],
  ['a status below 200', [KIND.response, 1, 199, 0, 'none', null]],
  ['a status above 599', [KIND.response, 1, 600, 0, 'none', null]],
  ['a cost that is negative', [KIND.cost, 1, -1, 0]],
  ['a truth value that is none', [KIND.cost, 1, 1, 2]],
  ['a call stack that is none', [KIND.guestFault, 1, 'trap', '', null, null, 'main:1', 0, 0]],
  ['a slice beyond the last', [KIND.head, 1_024, 0]],
  ['a negative head', [KIND.head, 0, -1]],
])('%s is refused by the side that calls', (_, frames) => {
  expect(() => checkFrames(frames, CALLING)).toThrow(RefusedMessage);
});

test('a request is refused if the modules differ', () => {
  const frames = request(() => {});
  expect(() => checkFrames(frames, { serves: true, routes: undefined })).toThrow('another module');
});

test('a code or a limit of a later version is replaced, and the call is uncertain', () => {
  const frames: Scalar[] = [KIND.svcError, 1, 'SVC_NEW_CODE', 'New.', null];
  frames.push(KIND.guestFault, 2, 'limit', 'L.', 'new-limit', null, null, 0, 0);
  checkFrames(frames, CALLING);
  expect(frames.slice(0, 5)).toEqual([
    KIND.svcError,
    1,
    'SVC_CALL_UNCERTAIN',
    'SVC_NEW_CODE: New.',
    null,
  ]);
  expect(frames[9]).toBeNull();
});
