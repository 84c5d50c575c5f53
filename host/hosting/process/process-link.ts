// ProcessLink keeps one stream to the process of a service, and opens another one when it has ended.
//
// Invariants
// L1  All streams of a link meet the same code: a process with another descriptor or fingerprint is not used. All links of a source meet the
//     same run of the process.
// L2  Between two streams, calls fail at once with SVC_PROCESS_UNAVAILABLE.
import type { Log } from '@svc/process-protocol/process';
import { ProcessAway } from './process-failures.ts';
import { holdsCodeOf, type ProcessSource } from './process-source.ts';
import { ProcessRun, runOf } from './process-run.ts';
import type { GuestShard } from '../guest-shard.ts';
import { openProcessStream, type ProcessStream } from './process-stream.ts';

export interface LinkOptions {
  readonly source: ProcessSource;
  readonly ofShard: GuestShard;
  readonly log: (line: Log) => void;
  /** Called when the process is reached, and after each attempt that has failed, with why it is away. */
  readonly changed?: ((why: string | undefined) => void) | undefined;
  /** Called once, when the process has become another one. */
  readonly replaced?: (() => void) | undefined;
}

const OTHER_RUN = 'is another run of it than the one that the service has met';
/** The most calls that a line of the log names. */
const SHOWN_MAX = 10;
/** The shortest pause before an attempt, in milliseconds; it doubles with each one that fails. */
const PAUSE_MIN_MS = 20;

export class ProcessLink {
  readonly #options: LinkOptions;
  readonly #run: ProcessRun;
  /** The run that the stream has met. */
  #metRun = 0;
  #stream: ProcessStream | undefined;
  #whyAway = 'was not reached yet';
  #pauseMs = PAUSE_MIN_MS;
  /** When the stream was opened. */
  #openedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();
  #isClosed = false;
  #wasReplaced = false;

  /** Call `open` before anything else. */
  constructor(options: LinkOptions) {
    this.#options = options;
    this.#run = new ProcessRun(options.source.run);
  }

  /**
   * Resolves when the first attempt to reach the process has ended; if it has failed, others follow. Rejects with SVC_PROCESS_INVALID if the
   * process speaks another version of the protocol.
   */
  async open(): Promise<void> {
    await this.#attempt();
  }

  /** The stream. Throws SVC_PROCESS_UNAVAILABLE while there is none. */
  get stream(): ProcessStream {
    if (this.#stream !== undefined && !this.#run.isMet(this.#metRun)) this.#stream.leave(OTHER_RUN);
    if (this.#stream === undefined) throw new ProcessAway(this.#whyAway);
    return this.#stream;
  }

  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#stream = undefined;
    this.#run.lost(this.#metRun);
    this.#whyAway = 'was left, because the service stops';
  }

  async #attempt(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      if (this.#isClosed) return;
      if (!(error instanceof ProcessAway)) throw error;
      this.#away(error.why);
    }
  }

  async #connect(): Promise<void> {
    const { source, ofShard, log } = this.#options;
    const events = {
      log,
      ended: (why: string, inProgress: readonly string[]) => this.#onEnd(why, inProgress),
    };
    const { signal } = this.#closing;
    const stream = await openProcessStream(source.connection, ofShard, events, signal);
    if (!holdsCodeOf(source, stream.welcome)) {
      this.#whyAway = 'has become another one since the service was started';
      stream.close();
      this.#noteReplaced();
      throw new ProcessAway(this.#whyAway);
    }
    const run = runOf(stream.welcome.instance);
    if (!this.#run.isMet(run)) {
      stream.close();
      throw new ProcessAway(OTHER_RUN);
    }
    this.#metRun = run;
    this.#stream = stream;
    this.#openedMs = performance.now();
    this.#options.changed?.(undefined);
  }

  #noteReplaced(): void {
    if (this.#wasReplaced) return;
    this.#wasReplaced = true;
    this.#options.replaced?.();
  }

  #onEnd(why: string, inProgress: readonly string[]): void {
    if (this.#stream === undefined) return;
    this.#stream = undefined;
    this.#run.lost(this.#metRun);
    const { reconnectMaxMs } = this.#options.source.connection.settings;
    // The pauses of a process that greets, and ends at once, grow.
    if (performance.now() - this.#openedMs > reconnectMaxMs) this.#pauseMs = PAUSE_MIN_MS;
    this.#away(why);
    if (inProgress.length === 0) return;
    const shown = inProgress.slice(0, SHOWN_MAX).join(', ');
    const more = inProgress.length > SHOWN_MAX ? ` and ${inProgress.length - SHOWN_MAX} more` : '';
    const message = `the process ${why}, and these calls were in it: ${shown}${more}`;
    this.#options.log({ level: 'warn', message, source: 'process' });
  }

  #away(why: string): void {
    if (this.#isClosed) return;
    this.#whyAway = why;
    this.#options.changed?.(why);
    // The pauses of shards that lose their process at the same moment differ.
    const pauseMs = this.#pauseMs * (0.5 + Math.random());
    this.#pauseMs = Math.min(
      this.#pauseMs * 2,
      this.#options.source.connection.settings.reconnectMaxMs,
    );
    this.#timer = setTimeout(() => {
      this.#attempt().catch((error: unknown) => this.#away(`cannot be served (${String(error)})`));
    }, pauseMs);
  }
}
