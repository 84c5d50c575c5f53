// RemotingTarget: whatever bytes another node sends, they are frames that have all that they need, or the connection ends with a
// reason. Both do not depend on how the bytes are divided, and memory is taken for what has arrived only.
//
// An input is one byte that says how large the pieces are, one that says which side this is, and the bytes of messages.
import { checkFrames, type ReceivingSide } from '../../../host/remoting/checked-frames.ts';
import { decodeList, encodeList, type Scalar } from '../../../host/remoting/flat-list.ts';
import { MessageReader } from '../../../host/remoting/message-reader.ts';
import { RefusedMessage } from '../../../host/remoting/refused-message.ts';
import { SocketTransport } from '../../../host/remoting/socket-transport.ts';
import {
  type ForwardedCall,
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
import { PeerProtocol } from '../../../host/shards/peer-protocol.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { ampleBudget } from '../kept-bytes.ts';
import type { Random } from '../random.ts';
import { demand, type FuzzTarget, havoc, Violation } from './fuzz-target.ts';

const BYTES_MAX = 64 * 1024;
const VALUES_MAX = 4_096;
const ROUTES = [1, 0];
const TEXTS = [
  '',
  'a',
  'größe',
  '\ud800',
  'null',
  'bytes',
  'none',
  'SVC_STOPPING',
  'x'.repeat(300),
];
const VALUES: readonly Scalar[] = [
  null,
  0,
  1,
  2,
  7,
  13,
  200,
  2 ** 31,
  0.5,
  NaN,
  -1,
  'none',
  '',
  new Uint8Array(3),
];

export const remotingTarget: FuzzTarget = {
  name: 'remoting',
  covers: '/host/remoting/',
  fresh: (random) => {
    const serves = random.chance(50);
    const lists = Array.from({ length: 1 + random.below(3) }, () => listOf(random, serves));
    const bytes = Buffer.concat(lists.map((list) => encodeList(list)));
    const head = [random.below(256), serves ? 1 : 0];
    return Uint8Array.of(...head, ...(random.chance(40) ? havoc(random, bytes) : bytes));
  },
  mutated: (random, input, other) =>
    random.chance(80)
      ? havoc(random, input)
      : Buffer.concat([
          input.subarray(0, random.below(input.length + 1)),
          other.subarray(random.below(other.length + 1)),
        ]),
  run(input) {
    const bytes = Buffer.from(input.subarray(2, 2 + BYTES_MAX));
    const serves = (input[1] ?? 0) % 2 === 1;
    const whole = reading(serves, [bytes]);
    const pieces = [...piecesOf(bytes, 1 + (input[0] ?? 0))];
    demand(reading(serves, pieces) === whole, 'frames are the same at every split');
  },
};

/** Reads the pieces as a connection does, and returns a text of all that came of them. */
function reading(serves: boolean, pieces: readonly Buffer[]): string {
  const side: ReceivingSide = { serves, routes: serves ? ROUTES : undefined };
  const found: unknown[] = [];
  const transport = transportOf(side, found);
  const reader = new MessageReader(BYTES_MAX, (bytes, start, end) => {
    const values = decodeList(bytes, start, end, VALUES_MAX);
    demand(isSame(decodedAgain(values), values), 'a list is the same when it is written again');
    const checked = [...values];
    passesOrIsRefused(() => checkFrames(checked, side));
    transport.received(values);
  });
  let arrived = 0;
  for (const piece of pieces) {
    arrived += piece.length;
    if (!passesOrIsRefused(() => reader.read(piece), found)) break;
    demand(reader.heldBytes <= 2 * arrived + 4_096, 'memory is taken for what has arrived');
  }
  transport.ended();
  return JSON.stringify(found);
}

function transportOf(side: ReceivingSide, found: unknown[]): SocketTransport {
  const connection = { send: () => {}, queuedBytes: 0 };
  const transport = new SocketTransport({ connection, side, sharesModule: true });
  const protocol = new PeerProtocol(transport, {
    serve: (call) => {
      demandTexts(call[0].component, call[0].id, call[1], call[2], ...call[3].flat());
      found.push(call);
      if (call[2] === 'null') throw new SvcError('SVC_STOPPING', 'Stopping.');
      return call[2] === '' ? new Promise(() => {}) : { kind: 'reply', json: call[2] };
    },
    serveRequest: (request) => {
      demandTexts(...request.parameters, request.query, request.caller, ...request.headers.flat());
      demand(request.parameters.length === ROUTES[request.route], 'a route has its parameters');
      found.push(request);
      return new Promise(() => {});
    },
    failed: () => true,
    learned: (failure) => found.push(failure.message),
    unsent: ampleBudget(),
    ended: () => found.push('ended'),
    head: (slice, off) => found.push([slice, off]),
    look: () => found.push('look'),
    peer: 'node',
  });
  // What is answered has to have been asked.
  if (!side.serves) {
    for (let calls = 0; calls < 3; calls++)
      void protocol.call(CALL).then(noteOf(found), () => found.push('failed'));
    void protocol.request(REQUEST, [], undefined, () => {})?.then(noteOf(found), () => {});
  }
  return transport;
}

const noteOf =
  (found: unknown[]) =>
  (outcome: unknown): void =>
    void found.push(outcome);

/** Returns whether the work was not refused. Throws a Violation if it throws anything but a refusal. */
function passesOrIsRefused(work: () => void, found: unknown[] = []): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof Violation) throw error;
    if (!(error instanceof RefusedMessage)) throw new Violation(String(error), { cause: error });
    found.push(error.message);
    return false;
  }
}

function demandTexts(...texts: readonly unknown[]): void {
  demand(
    texts.every((text) => typeof text === 'string'),
    'a call has texts',
  );
}

function decodedAgain(values: readonly Scalar[]): Scalar[] {
  const bytes = encodeList(values);
  return decodeList(bytes, 4, bytes.length, VALUES_MAX);
}

/** NaN is the same as itself here. */
function isSame(left: readonly Scalar[], right: readonly Scalar[]): boolean {
  return (
    left.length === right.length &&
    left.every(
      (value, index) =>
        Object.is(value, right[index]) ||
        value === right[index] ||
        (value instanceof Uint8Array && Buffer.compare(value, right[index] as Uint8Array) === 0),
    )
  );
}

function* piecesOf(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const CALL: ForwardedCall = [{ component: 'c', id: 'a' }, 'add', '1', [], undefined];
const REQUEST: EndpointRequest = {
  route: 0,
  parameters: ['a'],
  query: '',
  headers: [['accept', '*/*']],
  caller: 'internet',
  body: { kind: 'json', text: '1' },
};
const RESPONSE: EndpointResponse = {
  kind: 'response',
  status: 200,
  headers: [['a', 'b']],
  body: { kind: 'bytes', bytes: Uint8Array.of(1, 2) },
};

/** Frames of one side, some of them with a value changed, left out or put in. */
function listOf(random: Random, serves: boolean): Scalar[] {
  const frames: Frames = [];
  for (let count = random.below(5); count >= 0; count--)
    (serves ? writeAsked : writeAnswered)(random, frames);
  const list: Scalar[] = frames;
  if (random.chance(50)) return list;
  for (let changes = random.below(3); changes >= 0; changes--) {
    const at = random.below(list.length + 1);
    const value = random.chance(50) ? random.pick(VALUES) : random.pick(TEXTS);
    list.splice(at, random.below(3), ...(random.chance(70) ? [value] : []));
  }
  return list;
}

function writeAsked(random: Random, frames: Frames): void {
  const number = random.below(6);
  switch (random.below(5)) {
    case 0:
      writeTaken(frames, number);
      break;
    case 1:
      writeCancel(frames, number, new GuestFault('time', 'Late.', { limit: 'request-time' }));
      break;
    case 2:
      writeLook(frames);
      break;
    case 3:
      writeRequest(frames, number, REQUEST, [['a', random.pick(TEXTS)]]);
      break;
    default:
      writeCall(frames, number, [
        { component: 'c', id: random.pick(TEXTS) },
        'add',
        random.pick(TEXTS),
        [['a', random.pick(TEXTS)]],
        random.chance(50) ? undefined : 'key',
      ]);
  }
}

function writeAnswered(random: Random, frames: Frames): void {
  const number = random.below(4);
  switch (random.below(6)) {
    case 0:
      writeHead(frames, random.below(1_100), random.below(100));
      break;
    case 1:
      writeCost(frames, 3, { fuel: random.below(1_000), wasMisrouted: random.chance(50) });
      writeOutcome(frames, 3, RESPONSE);
      break;
    case 2:
      writeOutcome(frames, number, {
        kind: 'refusal',
        code: 'CONFLICT',
        message: random.pick(TEXTS),
      });
      break;
    case 3:
      writeFailure(frames, number, new SvcError('SVC_STOPPING', 'Stopping.'), true);
      break;
    case 4:
      writeFailure(
        frames,
        number,
        new GuestFault('trap', 'T.', {
          logLines: ['a'],
          frames: [{ functionIndex: 1, offset: 2 }],
        }),
        random.chance(50),
      );
      break;
    default:
      writeOutcome(frames, number, { kind: 'reply', json: random.pick(TEXTS) });
  }
}
