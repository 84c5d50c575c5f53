// ServedStream is one stream of the runtime as the process sees it: the handshake, and the calls of one shard.
//
// Invariants
// V1  The frames of an entity are carried out in their order: its handlers are synchronous.
// V2  Each call is answered once, also where the program fails. A handler that is cancelled is
//     answered at once, and its own answer is dropped.
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { EmbeddedGuest } from '@svc/components/embedded-guest';
import { GuestFault } from '@svc/model/guest-fault';
import { contextOf, refusalFrame } from '@svc/process-protocol/call-frames';
import { faultFrame } from '@svc/process-protocol/fault-frames';
import { FrameStream } from '@svc/process-protocol/frame-stream';
import {
  eventOf,
  requestOf,
  responseFrame,
  verdictFrame,
} from '@svc/process-protocol/handler-frames';
import {
  FromProcessFrame,
  type Consume,
  type Handle,
  type Hello,
  type ToProcessFrame,
  type ViewFold,
  type ViewKeys,
} from '@svc/process-protocol/process';
import {
  encodedFrame,
  FRAME_BYTES_MAX,
  PROTOCOL_VERSIONS,
  type Received,
  WINDOW_BYTES,
} from '@svc/process-protocol/protocol';
import { required } from '@svc/process-protocol/protocol-error';
import { keyedEventOf, rowFrame, rowOf } from '@svc/process-protocol/view-frames';
import { HostCallQueue } from './host-call-queue.ts';
import { RuntimeCalls } from './runtime-calls.ts';
import { ServedEntities } from './served-entities.ts';

export type FromFrame = NonNullable<FromProcessFrame['frame']>;
type ToFrame = NonNullable<ToProcessFrame['frame']>;

export interface StreamParts {
  readonly guest: EmbeddedGuest;
  readonly duplex: ServerDuplexStream<Received<ToProcessFrame>, Buffer>;
  /** Identifies this run of the process. */
  readonly instance: string;
}

const SDK = '@svc/process 0.1.0';
/** Handlers of one stream that run at the same time. */
const HANDLERS_MAX = 10_000;
/** Bytes that may be sent before the runtime has said what it takes. */
const FIRST_WINDOW_BYTES = 1024 * 1024;

export class ServedStream {
  #end: (() => void) | undefined;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void> = new Promise((resolve) => (this.#end = resolve));
  readonly #parts: StreamParts;
  readonly #frames: FrameStream;
  readonly #hostCalls: HostCallQueue;
  readonly #entities: ServedEntities;
  /** Calls of the handlers that run, by the handler's number. */
  readonly #running = new Map<number, RuntimeCalls>();
  #hello: Hello | undefined;
  #lastHostCall = 0;
  #isOver = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    const { duplex, guest } = parts;
    this.#entities = new ServedEntities(guest, (call, frame) => this.#send(call, frame));
    this.#frames = new FrameStream({
      sink: duplex,
      creditFrame: (bytes) => encoded(0, { $case: 'credit', value: { bytes } }),
      ownWindowBytes: WINDOW_BYTES,
      windowBytes: FIRST_WINDOW_BYTES,
    });
    this.#hostCalls = new HostCallQueue((frame) => this.#frames.send(frame));
    duplex.on('data', (message: Received<ToProcessFrame>) => this.#onMessage(message));
    duplex.on('end', () => this.close());
    duplex.on('error', () => this.close());
    duplex.on('cancelled', () => this.close());
  }

  /** Ends the stream. Handlers that run go on, and nobody receives their answers. */
  close(): void {
    this.#isOver = true;
    for (const calls of this.#running.values()) calls.cancel('the stream of the runtime has ended');
    this.#running.clear();
    this.#entities.close();
    this.#frames.close();
    this.#parts.duplex.end();
    this.#end?.();
  }

  /** Sends an answer. One that the protocol cannot carry is a fault of its call. */
  #send(call: number, frame: FromFrame): void {
    let bytes: Uint8Array;
    try {
      bytes = encoded(call, frame);
      this.#checkSize(bytes, 'an answer');
    } catch (error) {
      const fault =
        error instanceof GuestFault
          ? error
          : new GuestFault('value', `an answer has a value that cannot be sent: ${String(error)}`);
      bytes = encoded(call, { $case: 'fault', value: faultFrame(fault) });
    }
    this.#frames.send(bytes);
  }

  /** Throws GuestFault if the frame is larger than the runtime takes. */
  #checkSize({ length }: Uint8Array, what: string): void {
    const max = this.#hello?.window?.frameBytes ?? FRAME_BYTES_MAX;
    if (length > max)
      throw new GuestFault('limit', `${what} takes ${length} bytes: ${max} are allowed`);
  }

  #onMessage({ frames, bytes, problem }: Received<ToProcessFrame>): void {
    // What was received before the end of the stream may come after it.
    if (this.#isOver) return;
    if (problem !== undefined) {
      this.#violated(problem);
      return;
    }
    for (const { call, entity, frame } of frames)
      // Frames of a later version are ignored.
      if (frame !== undefined) this.#onFrame(call, entity, frame);
    if (bytes > 0) this.#frames.taken(bytes);
  }

  #onFrame(call: number, entity: number, frame: ToFrame): void {
    if (this.#hello === undefined) {
      if (frame.$case === 'hello') this.#greet(frame.value);
      return;
    }
    switch (frame.$case) {
      case 'hello':
        return;
      case 'handle':
        this.#run(call, (calls) => this.#handle(frame.value, calls));
        return;
      case 'consume':
        this.#run(call, (calls) => this.#consume(frame.value, calls));
        return;
      case 'viewKeys':
        this.#answer(call, () => this.#keys(frame.value));
        return;
      case 'viewFold':
        this.#answer(call, () => this.#fold(frame.value));
        return;
      case 'result':
        this.#hostCalls.settled();
        this.#running.get(call)?.settle(frame.value);
        return;
      case 'cancel':
        this.#cancel(call, frame.value.reason);
        return;
      case 'ping':
        this.#frames.sendControl(
          encoded(0, { $case: 'pong', value: { number: frame.value.number } }),
        );
        return;
      case 'credit':
        this.#frames.credited(frame.value.bytes);
        return;
      case 'open':
      case 'apply':
      case 'command':
      case 'query':
      case 'keep':
      case 'snapshot':
      case 'close':
        this.#entities.onFrame(call, entity, frame);
    }
  }

  #greet(hello: Hello): void {
    const version = PROTOCOL_VERSIONS.find((own) => hello.versions.includes(own));
    if (version === undefined) {
      this.#reject(
        `its SDK speaks version ${PROTOCOL_VERSIONS.join(', ')} of the protocol, and the runtime ` +
          `${hello.versions.join(', ')}. Update the older one of both.`,
      );
      return;
    }
    if (hello.window === undefined) {
      this.#reject('the runtime has named no window.');
      return;
    }
    this.#hello = hello;
    this.#frames.windowBytes = hello.window.bytes;
    this.#hostCalls.max = hello.window.calls;
    const { guest, instance } = this.#parts;
    const window = { bytes: WINDOW_BYTES, calls: HANDLERS_MAX, frameBytes: FRAME_BYTES_MAX };
    const value = {
      version,
      sdk: SDK,
      instance,
      descriptor: JSON.stringify(guest.descriptor),
      fingerprint: guest.fingerprint ?? '',
      window,
    };
    this.#send(0, { $case: 'welcome', value });
  }

  /** Ends the stream because the runtime has broken a rule. */
  #violated(problem: string): void {
    const { duplex } = this.#parts;
    duplex.emit('error', { code: status.INVALID_ARGUMENT, details: problem });
  }

  #reject(reason: string): void {
    this.#send(0, { $case: 'rejected', value: { reason } });
    this.#frames.flush();
    this.close();
  }

  /** Runs a handler, and answers its call. A number that cannot be answered, since it is none or that of a handler that runs, is ignored. */
  #run(call: number, handle: (calls: RuntimeCalls) => Promise<FromFrame>): void {
    if (call === 0 || this.#running.has(call)) return;
    if (this.#running.size >= HANDLERS_MAX) {
      this.#violated(`more than ${HANDLERS_MAX} handlers are to run`);
      return;
    }
    const calls = new RuntimeCalls({
      send: (made) => {
        const number = ++this.#lastHostCall;
        const frame = encoded(call, { $case: 'hostCall', value: { number, call: made } });
        this.#checkSize(frame, 'a call');
        this.#hostCalls.add(call, frame, made.$case !== 'scopeKeys');
        return number;
      },
    });
    this.#running.set(call, calls);
    void handle(calls)
      .catch((error: unknown) => failureFrame(error, calls))
      .then((answer) => {
        this.#hostCalls.drop(call);
        if (this.#running.delete(call)) this.#send(call, answer);
      });
  }

  /** Answers the call of a handler at once. The handler itself may never settle. */
  #cancel(call: number, reason: string): void {
    const calls = this.#running.get(call);
    if (calls === undefined) return;
    this.#running.delete(call);
    calls.cancel(reason);
    this.#hostCalls.drop(call);
    this.#send(call, failureFrame(calls.cancelReason));
  }

  async #handle(frame: Handle, calls: RuntimeCalls): Promise<FromFrame> {
    const context = contextOf(frame.context);
    calls.begin(context);
    const answer = await this.#parts.guest.endpoints.handle(context, requestOf(frame), calls);
    return answer.kind === 'refusal'
      ? { $case: 'refusal', value: refusalFrame(answer) }
      : { $case: 'response', value: responseFrame(answer) };
  }

  async #consume(frame: Consume, calls: RuntimeCalls): Promise<FromFrame> {
    const context = contextOf(frame.context);
    calls.begin(context);
    const consumers = required(this.#parts.guest.consumers, 'a consumer of the program');
    const answer = await consumers.handle(context, frame.consumer, eventOf(frame.event), calls);
    return answer.kind === 'refusal'
      ? { $case: 'refusal', value: refusalFrame(answer) }
      : { $case: 'verdict', value: verdictFrame(answer) };
  }

  async #keys({ view, events }: ViewKeys): Promise<FromFrame> {
    const views = required(this.#parts.guest.views, 'a view of the program');
    const keys = await views.keys(view, events.map(eventOf));
    return typeof keys === 'string'
      ? { $case: 'problem', value: { message: keys } }
      : { $case: 'keys', value: { events: keys.map((list) => ({ keys: list })) } };
  }

  async #fold({ view, rows, events }: ViewFold): Promise<FromFrame> {
    const views = required(this.#parts.guest.views, 'a view of the program');
    const changed = await views.fold(view, rows.map(rowOf), events.map(keyedEventOf));
    return typeof changed === 'string'
      ? { $case: 'problem', value: { message: changed } }
      : { $case: 'rows', value: { rows: changed.map(rowFrame) } };
  }

  /** Answers a call that makes no calls itself. */
  #answer(call: number, run: () => Promise<FromFrame>): void {
    void run()
      .catch((error: unknown) => failureFrame(error))
      .then((answer) => this.#send(call, answer));
  }
}

/** Returns the answer for an error. */
export function failureFrame(error: unknown, calls?: RuntimeCalls): FromFrame {
  const passed = calls?.numberOf(error);
  if (passed !== undefined) return { $case: 'passed', value: { number: passed } };
  const fault = error instanceof GuestFault ? error : new GuestFault('trap', String(error));
  return { $case: 'fault', value: faultFrame(fault) };
}

function encoded(call: number, frame: FromFrame): Uint8Array {
  return encodedFrame(FromProcessFrame, { call, frame });
}
