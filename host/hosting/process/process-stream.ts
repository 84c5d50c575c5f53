// ProcessStream is one gRPC stream to a process: the handshake, the calls that the process answers, the calls of its handlers, and the
// pings by which a dead process is noticed.
//
// Invariants
// P1  A stream ends once, and all its calls with it. It is never used again.
// P2  Whatever the process sends ends at worst its stream: the runtime neither crashes nor keeps more of it than its windows allow.
import { Client, credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import { FrameStream } from '@svc/process-protocol/frame-stream';
import {
  type FromProcessFrame,
  type HostCall,
  type HostResult,
  type Log,
  ToProcessFrame,
  type Welcome,
  type Window,
} from '@svc/process-protocol/process';
import {
  encodedFrame,
  FRAME_BYTES_MAX,
  OPEN_METHOD,
  PROTOCOL_VERSIONS,
  type Received,
  WINDOW_BYTES,
} from '@svc/process-protocol/protocol';
import { ProtocolError } from '@svc/process-protocol/protocol-error';
import type { GuestShard } from '../guest-shard.ts';
import { type Answer, type CallEnd, ProcessCalls } from './process-calls.ts';
import { GuestFault } from '@svc/model/guest-fault';
import { processInvalid, ProcessAway } from './process-failures.ts';
import type { ProcessSettings } from './process-settings.ts';

type Duplex = ClientDuplexStream<Buffer, Received<FromProcessFrame>>;
export type ToFrame = NonNullable<ToProcessFrame['frame']>;

/** How a process is reached, and by whom. It is plain data. */
export interface ProcessConnection {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Name of the service. */
  readonly service: string;
  /** Whether the service runs on a developer's machine. */
  readonly developing: boolean;
  readonly settings: ProcessSettings;
}

/** Receives what the process sends of its own accord. */
export interface StreamEvents {
  log(line: Log): void;
  /**
   * Called once, when the stream has ended. `why`: the end of a sentence that begins with `The process`. `inProgress`: the subjects of the calls
   * that were in it.
   */
  ended(why: string, inProgress: readonly string[]): void;
}

/** Receives the host calls of one handler. */
export type HostCallReceiver = (call: HostCall) => void;

export interface StreamCall {
  /** Number of the entity; absent: the call is none of an entity. */
  readonly entity?: number;
  readonly frame: ToFrame;
  readonly timeoutMs: number;
  /** The handler or the part of the code that is called, in words. */
  readonly subject: string;
  /** Receives what the handler calls. */
  readonly hostCalls?: HostCallReceiver;
}

const TAKES_NOTHING = 'does not take what it is sent';
/** How many times the bytes that may wait before calls are refused may wait at all. */
const UNSENT_FACTOR = 2;
const HANDLER_GONE: HostResult['result'] = {
  $case: 'failed',
  value: { word: 'UNAVAILABLE', text: 'the handler has ended', code: '' },
};
/** Bytes that may be sent before the process has said what it takes. */
const FIRST_WINDOW_BYTES = 64 * 1024;
/** Parts of the silence after which the process is asked for a sign of life. */
const PINGS_IN_SILENCE = 3;

const CHANNEL_OPTIONS = {
  // A retry would keep what was sent.
  'grpc.enable_retries': 0,
  // The process is on this machine, and each attempt is made at once.
  'grpc.enable_http_proxy': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': FRAME_BYTES_MAX + 1024,
  'grpc.max_send_message_length': FRAME_BYTES_MAX + 1024,
  'grpc-node.flow_control_window': WINDOW_BYTES,
} as const;

/**
 * Connects, and exchanges the first frames. `signal`: gives the attempt up. Rejects with SVC_PROCESS_UNAVAILABLE if nothing answers as a process would, and with
 * SVC_PROCESS_INVALID if the process speaks no version of the protocol that this runtime does.
 */
export async function openProcessStream(
  connection: ProcessConnection,
  ofShard: GuestShard,
  events: StreamEvents,
  signal?: AbortSignal,
): Promise<ProcessStream> {
  const client = new Client(connection.address, credentials.createInsecure(), CHANNEL_OPTIONS);
  const { path, requestSerialize, responseDeserialize } = OPEN_METHOD;
  const duplex: Duplex = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const stream = new ProcessStream({ client, duplex, connection, events });
  const close = (): void => stream.close();
  signal?.addEventListener('abort', close);
  try {
    signal?.throwIfAborted();
    await stream.greet(ofShard);
    return stream;
  } catch (error) {
    stream.close();
    throw error;
  } finally {
    signal?.removeEventListener('abort', close);
  }
}

interface StreamParts {
  readonly client: Client;
  readonly duplex: Duplex;
  readonly connection: ProcessConnection;
  readonly events: StreamEvents;
}

export class ProcessStream {
  readonly #parts: StreamParts;
  readonly #frames: FrameStream;
  readonly #calls: ProcessCalls;
  readonly #hostCalls = new Map<number, HostCallReceiver>();
  readonly #greeting = Promise.withResolvers<Welcome>();
  #welcome: Welcome | undefined;
  #openHostCalls = 0;
  #lastEntity = 0;
  #lastPing = 0;
  #heardMs = performance.now();
  #pinger: NodeJS.Timeout | undefined;
  #endedBy: string | undefined;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    const { duplex } = parts;
    this.#frames = new FrameStream({
      sink: duplex,
      creditFrame: (bytes) => encoded(0, 0, { $case: 'credit', value: { bytes } }),
      ownWindowBytes: WINDOW_BYTES,
      windowBytes: FIRST_WINDOW_BYTES,
    });
    this.#calls = new ProcessCalls((call) =>
      this.send(call, 0, { $case: 'cancel', value: { reason: 'its time is over' } }),
    );
    this.#greeting.promise.catch(() => {});
    duplex.on('data', (message: Received<FromProcessFrame>) => this.#onMessage(message));
    duplex.on('error', (error: Error & { readonly details?: string }) =>
      this.#end(whyEnded(error.details ?? error.message)),
    );
    duplex.on('end', () => this.#end('has ended its connection'));
  }

  /** Why the stream has ended, as the end of a sentence that begins with `The process`; undefined if it has not. */
  get endedBy(): string | undefined {
    return this.#endedBy;
  }

  /** The first frame of the process. Only once `greet` has resolved. */
  get welcome(): Welcome {
    return this.#welcome!;
  }

  /** Sends the first frame and waits for the answer. Rejects as `openProcessStream` does. */
  async greet(ofShard: GuestShard): Promise<void> {
    const { settings, address, service, developing } = this.#parts.connection;
    const pingMs = Math.ceil(settings.silenceMs / PINGS_IN_SILENCE);
    const window = {
      bytes: WINDOW_BYTES,
      calls: settings.hostCallsMax,
      frameBytes: FRAME_BYTES_MAX,
    };
    const hello = { versions: PROTOCOL_VERSIONS, service, ...ofShard, window, pingMs, developing };
    this.#write(encoded(0, 0, { $case: 'hello', value: hello }));
    const timer = setTimeout(
      () => this.#end(`has not answered within ${settings.connectTimeoutMs} ms`),
      settings.connectTimeoutMs,
    );
    try {
      const welcome = await this.#greeting.promise;
      if (!PROTOCOL_VERSIONS.includes(welcome.version)) {
        const why = `it speaks version ${welcome.version} of the protocol, and this runtime ${PROTOCOL_VERSIONS.join(', ')}. Update its SDK.`;
        throw processInvalid(address, why);
      }
    } finally {
      clearTimeout(timer);
    }
    // It may have ended right after its first frame.
    if (this.#endedBy !== undefined) throw new ProcessAway(this.#endedBy);
    this.#pinger = setInterval(() => this.#ping(), pingMs);
    this.#pinger.unref();
  }

  /** Returns the number of a new entity. */
  newEntity(): number {
    return ++this.#lastEntity;
  }

  /**
   * Calls the process. Resolves with the answer, or with why there is none. Throws SVC_PROCESS_UNAVAILABLE if the stream has ended, if too much
   * waits to be sent, or if too many handlers run, and a GuestFault if the process does not take a frame of this size.
   */
  call({ entity = 0, frame, timeoutMs, subject, hostCalls }: StreamCall): {
    readonly number: number;
    readonly answer: Promise<Answer | CallEnd>;
  } {
    if (this.#endedBy !== undefined) throw new ProcessAway(this.#endedBy);
    if (this.#frames.unsentBytes > this.#parts.connection.settings.unsentBytesMax)
      throw new ProcessAway(TAKES_NOTHING);
    if (hostCalls !== undefined && this.#hostCalls.size >= this.#window.calls)
      throw new ProcessAway('has no room for another handler');
    const { promise: answer, resolve } = Promise.withResolvers<Answer | CallEnd>();
    const settle = (settled: Answer | CallEnd): void => {
      this.#hostCalls.delete(number);
      resolve(settled);
    };
    const number = this.#calls.add({ timeoutMs, subject, settle });
    if (hostCalls !== undefined) this.#hostCalls.set(number, hostCalls);
    const bytes = encoded(number, entity, frame);
    if (bytes.length > this.#window.frameBytes) {
      this.#calls.drop(number);
      this.#hostCalls.delete(number);
      throw new GuestFault('limit', `${subject} is larger than the process takes`);
    }
    this.#write(bytes);
    return { number, answer };
  }

  /** Sends a frame that has no answer. */
  send(call: number, entity: number, frame: ToFrame): void {
    if (this.#endedBy === undefined) this.#write(encoded(call, entity, frame));
  }

  /** Sends the result of a host call, also if its handler has answered: the process counts its calls by their results. */
  sendResult(call: number, value: HostResult): void {
    this.#openHostCalls -= 1;
    this.send(call, 0, { $case: 'result', value });
  }

  /** Ends the stream because the process has broken a rule. */
  violated(problem: string): void {
    this.#end(`has broken the protocol: ${problem}`);
  }

  close(): void {
    this.leave('was given up, because the service stops');
  }

  /** `why`: as in `StreamEvents.ended`. */
  leave(why: string): void {
    this.#end(why);
  }

  #write(frame: Uint8Array): void {
    this.#frames.send(frame);
    // Results and frames without an answer are sent whatever waits.
    const max = this.#parts.connection.settings.unsentBytesMax * UNSENT_FACTOR;
    if (this.#frames.unsentBytes > max) this.#end(TAKES_NOTHING);
  }

  get #window(): Window {
    return this.#welcome?.window ?? { bytes: 0, calls: 0, frameBytes: 0 };
  }

  #onMessage({ frames, bytes, problem }: Received<FromProcessFrame>): void {
    if (this.#endedBy !== undefined) return;
    this.#heardMs = performance.now();
    if (problem !== undefined) {
      this.violated(problem);
      return;
    }
    try {
      for (const frame of frames) this.#onFrame(frame);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.violated(error.message);
      return;
    }
    if (bytes > 0) this.#frames.taken(bytes);
  }

  #onFrame({ call, frame }: FromProcessFrame): void {
    // A frame of a later version.
    if (frame === undefined) return;
    if (this.#welcome === undefined) {
      this.#onFirst(frame);
      return;
    }
    switch (frame.$case) {
      case 'welcome':
      case 'rejected':
        throw new ProtocolError('it has sent its first frame twice');
      case 'hostCall':
        this.#onHostCall(call, frame.value);
        return;
      case 'log':
        this.#parts.events.log(frame.value);
        return;
      case 'credit':
        this.#frames.credited(frame.value.bytes);
        return;
      case 'pong':
        return;
      case 'done':
      case 'problem':
      case 'effect':
      case 'reply':
      case 'refusal':
      case 'fault':
      case 'state':
      case 'response':
      case 'verdict':
      case 'keys':
      case 'rows':
      case 'passed':
        this.#calls.answer(call, frame);
    }
  }

  #onFirst(frame: Answer): void {
    const { address } = this.#parts.connection;
    if (frame.$case === 'rejected')
      this.#greeting.reject(processInvalid(address, frame.value.reason));
    else if (frame.$case !== 'welcome')
      throw new ProtocolError(`its first frame is '${frame.$case}', and not 'welcome'`);
    else if (frame.value.window === undefined)
      this.#greeting.reject(processInvalid(address, 'it names no window.'));
    else {
      this.#welcome = frame.value;
      this.#frames.windowBytes = frame.value.window.bytes;
      this.#greeting.resolve(frame.value);
    }
  }

  #onHostCall(call: number, hostCall: HostCall): void {
    const receiver = this.#hostCalls.get(call);
    if (hostCall.call?.$case === 'scopeKeys') {
      receiver?.(hostCall);
      return;
    }
    const max = this.#parts.connection.settings.hostCallsMax;
    if (this.#openHostCalls >= max)
      throw new ProtocolError(`its handlers have more than ${max} calls under way`);
    this.#openHostCalls += 1;
    if (receiver !== undefined) receiver(hostCall);
    // Its handler was cancelled while the call was on its way.
    else this.sendResult(call, { number: hostCall.number, nowMs: 0, result: HANDLER_GONE });
  }

  #ping(): void {
    const { silenceMs } = this.#parts.connection.settings;
    if (performance.now() - this.#heardMs >= silenceMs) {
      this.#end(`has been silent for ${silenceMs / 1000} s`);
      return;
    }
    const ping = { $case: 'ping', value: { number: ++this.#lastPing } } as const;
    this.#frames.sendControl(encoded(0, 0, ping));
  }

  #end(why: string): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = why;
    clearInterval(this.#pinger);
    this.#frames.close();
    const { client, duplex, events } = this.#parts;
    duplex.cancel();
    client.close();
    this.#greeting.reject(new ProcessAway(why));
    const inProgress = this.#calls.end(why);
    if (this.#welcome !== undefined) events.ended(why, inProgress);
  }
}

function encoded(call: number, entity: number, frame: ToFrame): Uint8Array {
  return encodedFrame(ToProcessFrame, { call, entity, frame });
}

/** Says why a connection has ended, as the end of a sentence that begins with `The process`. */
function whyEnded(details: string): string {
  return details.includes('ECONNREFUSED')
    ? 'does not listen (ECONNREFUSED)'
    : `has ended its connection (${details})`;
}
