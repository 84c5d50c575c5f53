// PlayedStream: one stream to a process, of a runtime that does what a transcript says and nothing by itself. It checks what holds for every stream, whatever is
// sent on it.
//
// Invariants that it checks
// T1  The first frame of the process is `welcome` or `rejected`, and there is no second one.
// T2  Each call has at most one answer, and only calls have answers.
// T3  A message of several frames has at most 256 KiB.
// T4  The process sends no more than the window admits, and credits what it was sent: less than a quarter of its window stays uncredited.
import assert from 'node:assert/strict';
import { Client, credentials } from '@grpc/grpc-js';
import { framesFromProcess, type JsonObject, messageToProcess } from './frame-text.ts';

const PATH = '/svc.process.v1.Process/Open';
const MESSAGE_BYTES_MAX = 256 * 1024;
const FIRST_WINDOW_BYTES = 1024 * 1024;
/** Frames that are not counted by windows. */
const CONTROL: ReadonlySet<string> = new Set(['ping', 'pong', 'credit']);
const OTHERS: ReadonlySet<string> = new Set([
  'welcome',
  'rejected',
  'hostCall',
  'log',
  'later',
  ...CONTROL,
]);
/** Time for each thing that a transcript waits for. */
const STEP_MS = 15_000;
/** Numbers of the pings that ask whether anything else comes. */
const OWN_PINGS = 1_000_000_000;

interface Welcome {
  readonly descriptor: string;
  readonly window: { readonly bytes: number };
}

export class PlayedStream {
  readonly #client: Client;
  readonly #duplex;
  /** Frames that no line has expected yet. */
  readonly #frames: JsonObject[] = [];
  readonly #logs: JsonObject[] = [];
  /** Breaches of the invariants. */
  readonly #complaints: string[] = [];
  readonly #open = new Set<number>();
  /** Calls that may be answered or not. */
  readonly #ignored = new Set<number>();
  #welcome: Welcome | undefined;
  #hasBegun = false;
  #windowBytes = FIRST_WINDOW_BYTES;
  #uncreditedReceived = 0;
  #uncreditedSent = 0;
  #pings = OWN_PINGS;
  #pongs = OWN_PINGS;
  #isEnded = false;
  #isChecked = true;
  #changed = Promise.withResolvers<void>();

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
    this.#duplex = this.#client.makeBidiStreamRequest(PATH, same, same);
    this.#duplex.on('data', (message: Buffer) => this.#onMessage(message));
    this.#duplex.on('error', () => this.#onEnd());
    this.#duplex.on('end', () => this.#onEnd());
  }

  /** Routes of the process's descriptor, as `METHOD PATH`. */
  get routes(): readonly string[] {
    const { endpoints = [] } = JSON.parse(this.#welcome?.descriptor ?? '{}') as {
      endpoints?: { prefix: string; routes: { method: string; path: string }[] }[];
    };
    return endpoints.flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => `${method} ${prefix}${path}`),
    );
  }

  send(frames: readonly JsonObject[]): void {
    for (const frame of frames) {
      const { hello } = frame as { hello?: { window?: { bytes?: number } } };
      if (hello?.window?.bytes !== undefined && !this.#hasBegun)
        this.#windowBytes = hello.window.bytes;
      if (
        typeof frame.call === 'number' &&
        frame.result === undefined &&
        frame.cancel === undefined
      )
        this.#open.add(frame.call);
    }
    this.sendBytes(messageToProcess(frames), frames.some(isCounted));
  }

  /** Sends bytes, which need not be a message. */
  sendBytes(bytes: Buffer, counted = false): void {
    if (counted) this.#uncreditedSent += bytes.length;
    this.#duplex.write(bytes);
  }

  /** Takes the next frames, in any order: those that `take` returns true for. */
  async next(take: (frame: JsonObject) => boolean, isLog: boolean): Promise<void> {
    const from = isLog ? this.#logs : this.#frames;
    await this.#until(() => from.length > 0 || this.#isEnded, 'a frame');
    if (from.length === 0) throw new Error('the process has ended the stream');
    if (!take(from[0]!)) throw new Error(`the process has sent ${JSON.stringify(from[0])}`);
    from.shift();
  }

  /** An answer to this call is allowed, and needs not come. */
  ignoreAnswer(call: number): void {
    this.#ignored.add(call);
  }

  /** Credits everything that was received. */
  credit(): void {
    const bytes = this.#uncreditedReceived;
    this.#uncreditedReceived = 0;
    this.send([{ credit: { bytes } }]);
  }

  /** Resolves when the process has answered a ping, and nothing else came before. */
  async quiet(): Promise<void> {
    const number = ++this.#pings;
    this.send([{ ping: { number } }]);
    await this.#until(() => this.#pongs >= number || this.#isEnded, 'a pong');
    assert(!this.#isEnded, 'the process has ended the stream');
    assert.deepEqual(this.#frames, []);
  }

  /** Resolves when the process has ended the stream or answered a ping. What it sends on this stream is no longer checked. */
  async over(): Promise<void> {
    const number = ++this.#pings;
    this.send([{ ping: { number } }]);
    await this.#until(() => this.#pongs >= number || this.#isEnded, 'a pong, or the end');
    this.#isChecked = false;
  }

  async ended(): Promise<void> {
    await this.#until(() => this.#isEnded, 'the end of the stream');
  }

  /** Ends the stream, and checks that it kept to the protocol. */
  async close(): Promise<void> {
    try {
      if (!this.#isChecked) return;
      if (!this.#isEnded) await this.quiet();
      const window = this.#welcome?.window.bytes ?? Infinity;
      if (!this.#isEnded)
        await this.#until(
          () => this.#uncreditedSent < window / 4 + 1,
          'the credit of what was sent',
        );
      assert.deepEqual(this.#frames, []);
      assert.deepEqual(this.#complaints, []);
    } finally {
      this.abort();
    }
  }

  abort(): void {
    this.#duplex.cancel();
    this.#client.close();
  }

  #onMessage(message: Buffer): void {
    const frames = framesFromProcess(message);
    if (frames.length > 1 && message.length > MESSAGE_BYTES_MAX)
      this.#complain(`a message of ${frames.length} frames has ${message.length} bytes`);
    if (frames.some(isCounted)) this.#count(message.length);
    for (const frame of frames) this.#onFrame(frame);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #count(bytes: number): void {
    const before = this.#uncreditedReceived;
    this.#uncreditedReceived += bytes;
    if (this.#uncreditedReceived > this.#windowBytes && before * 2 > this.#windowBytes)
      this.#complain(`it has sent ${bytes} bytes after ${before} of ${this.#windowBytes}`);
  }

  #onFrame(frame: JsonObject): void {
    const isFirst = frame.welcome !== undefined || frame.rejected !== undefined;
    if (isFirst === this.#hasBegun) this.#complain(`${kindOf(frame)} is not where it should be`);
    this.#hasBegun = true;
    this.#welcome ??= frame.welcome as unknown as Welcome | undefined;
    const { credit, pong, call } = frame as {
      credit?: { bytes: number };
      pong?: { number: number };
      call?: number;
    };
    if (!OTHERS.has(kindOf(frame)) && !this.#open.delete(call ?? 0))
      this.#complain(
        `it has answered call ${call}, which is not open, with ${JSON.stringify(frame)}`,
      );
    const isIgnored = call !== undefined && this.#ignored.has(call) && frame.hostCall === undefined;
    if (isIgnored) return;
    if (credit !== undefined) this.#uncreditedSent -= credit.bytes;
    else if (pong !== undefined && pong.number > OWN_PINGS) this.#pongs = pong.number;
    else (frame.log === undefined ? this.#frames : this.#logs).push(frame);
  }

  #onEnd(): void {
    this.#isEnded = true;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #complain(text: string): void {
    this.#complaints.push(text);
  }

  async #until(isDone: () => boolean, what: string): Promise<void> {
    const deadlineMs = performance.now() + STEP_MS;
    while (!isDone()) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw new Error(`${what} has not come within ${STEP_MS} ms`);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, leftMs)));
      // oxlint-disable-next-line no-await-in-loop -- until something has come
      await Promise.race([this.#changed.promise, late]);
      clearTimeout(timer);
    }
  }
}

function same(message: Buffer): Buffer {
  return message;
}

function kindOf(frame: JsonObject): string {
  return (
    Object.keys(frame).find((name) => !['call', 'entity', 'laterField'].includes(name)) ?? 'nothing'
  );
}

function isCounted(frame: JsonObject): boolean {
  return !CONTROL.has(kindOf(frame));
}
