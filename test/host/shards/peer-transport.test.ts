// PeerProtocol needs nothing of a transport but its interface: here frames travel through an array of encoded lists,
// and a link that ends knows which of them had left.
import { expect, test } from 'vitest';
import type { Refusal, Reply } from '../../../model/call.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import {
  type ForwardedCall,
  type Frames,
  readFrames,
  writeCall,
  writeCancel,
  writeFailure,
  writeOutcome,
  writeTaken,
} from '../../../host/shards/frame.ts';
import { PeerProtocol } from '../../../host/shards/peer-protocol.ts';
import type { PeerReceiver, PeerTransport } from '../../../host/shards/peer-transport.ts';
import { ampleBudget } from '../../support/kept-bytes.ts';

/** A transport whose frames leave when the test says so. */
class ManualTransport implements PeerTransport {
  receiver!: PeerReceiver;
  readonly #queue: Frames[] = [];
  #queued = 0;
  #sent = 0;

  start(receiver: PeerReceiver): void {
    this.receiver = receiver;
  }

  sendCall(number: number, call: ForwardedCall): number {
    this.#push((frames) => writeCall(frames, number, call));
    return this.#queued - 1;
  }

  sendRequest(): undefined {}

  sendReply(number: number, outcome: Reply | Refusal): void {
    this.#push((frames) => writeOutcome(frames, number, outcome));
  }

  sendResponse(): void {
    throw new Error('no request was sent');
  }

  sendFailure(number: number, failure: unknown, isLogged: boolean): void {
    this.#push((frames) => writeFailure(frames, number, failure, isLogged));
  }

  sendCancel(...cancel: Parameters<PeerTransport['sendCancel']>): void {
    this.#push((frames) => writeCancel(frames, ...cancel));
  }

  sendTaken(number: number): void {
    this.#push((frames) => writeTaken(frames, number));
  }

  hasSent(position: number): boolean {
    return position < this.#sent;
  }

  /** Sends the oldest frames, which then arrive at the other end. */
  deliver(count: number, to: ManualTransport): void {
    for (const frames of this.#queue.splice(0, count)) {
      this.#sent++;
      readFrames(frames, to.receiver);
    }
  }

  #push(write: (frames: Frames) => void): void {
    const frames: Frames = [];
    write(frames);
    this.#queue.push(frames);
    this.#queued++;
  }
}

const callOf = (name: string): ForwardedCall => [
  { component: 'counter', id: 'a' },
  name,
  'null',
  [],
  undefined,
];

function linked(serve: (name: string) => Reply) {
  const [near, far] = [new ManualTransport(), new ManualTransport()];
  const options = {
    serve: ([, name]: ForwardedCall) => serve(name),
    serveRequest: () => {
      throw new Error('no request was expected');
    },
    failed: () => true,
    learned: () => {},
    unsent: ampleBudget(),
    ended: () => {},
  };
  const caller = new PeerProtocol(near, options);
  void new PeerProtocol(far, options);
  return { caller, near, far };
}

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (answer) => answer,
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );

test('a call is answered over any transport, with a reply or with the failure of the other side', async () => {
  const { caller, near, far } = linked((name) => {
    if (name === 'full') throw new SvcError('SVC_OVERLOADED', 'Full.');
    return { kind: 'reply', json: `"${name}"` };
  });
  const answers = ['first', 'full'].map(async (name) => codeOf(caller.call(callOf(name))));
  near.deliver(2, far);
  far.deliver(2, near);
  expect(await Promise.all(answers)).toEqual([
    { kind: 'reply', json: '"first"' },
    'SVC_OVERLOADED',
  ]);
  expect(caller.callsInFlight).toBe(0);
});

test('when the link ends, a call that had left is uncertain, and one that had not was not made', async () => {
  const served: string[] = [];
  const { caller, near, far } = linked((name) => {
    served.push(name);
    return { kind: 'reply', json: 'null' };
  });
  const answers = ['sent', 'queued'].map(async (name) => codeOf(caller.call(callOf(name))));
  near.deliver(1, far);
  near.receiver.ended();
  expect(await Promise.all(answers)).toEqual(['SVC_CALL_UNCERTAIN', 'SVC_SHARD_UNAVAILABLE']);
  expect(served).toEqual(['sent']);
  expect(() => caller.call(callOf('late'))).toThrow('was not sent');
});

test('a request that the transport does not carry is left to this shard', () => {
  const { caller } = linked(() => ({ kind: 'reply', json: 'null' }));
  const request = {
    route: 0,
    parameters: ['a'],
    query: '',
    headers: [],
    caller: 'internet',
    body: { kind: 'none' },
  } as const;
  expect(caller.request(request, [], undefined, () => {})).toBeUndefined();
  expect(caller.callsInFlight).toBe(0);
});
