// ProgramThread is a thread that has loaded a program's file and runs its entities and views (program-worker.ts), as the
// tool that started it sees it. The tool's thread blocks until each answer, as it does while a module computes in it.
//
// Invariants
// P1  Nothing that the program does keeps the tool waiting for longer than the limits, or ends the tool's process: not
//     a loop, not an error that nobody catches, not process.exit, not memory that runs out.
// P2  Text that the program prints on stdout (console.log) appears on stderr: stdout belongs to the tool.
// P3  The thread does not keep the process alive.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import { GuestFault } from '@svc/model/guest-fault';
import {
  type FromProgram,
  type LoadedProgram,
  type ProgramCall,
  type ProgramWork,
  SIGNAL,
  type ToProgram,
} from './program-messages.ts';

export interface ProgramLimits {
  /** Milliseconds for importing the file and everything that it imports. */
  readonly loadTimeoutMs: number;
  /** Milliseconds for one call: a handler, or a batch of at most 512 events of an entity or of a view. */
  readonly callTimeoutMs: number;
  /** Mebibytes of memory for the program's values. */
  readonly memoryMib: number;
}

export const PROGRAM_LIMITS_DEFAULT: ProgramLimits = {
  loadTimeoutMs: 30_000,
  callTimeoutMs: 10_000,
  memoryMib: 1024,
};

const REMEDY =
  "Give a file that exports 'components' and does nothing else: no server, no timer, no service.";

export class ProgramThread {
  readonly #file: string;
  readonly #limits: ProgramLimits;
  readonly #worker: Worker;
  readonly #channel = new MessageChannel();
  readonly #signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #isEnded = false;
  #endedBy: string | undefined;

  /** Starts the thread; `loaded` waits until it has loaded the file. */
  constructor(file: string, limits: ProgramLimits) {
    this.#file = file;
    this.#limits = limits;
    const { port2: port } = this.#channel;
    const work: ProgramWork = { file, port, signal: this.#signal.buffer };
    this.#worker = new Worker(new URL('./program-worker.ts', import.meta.url), {
      name: 'program',
      workerData: work,
      transferList: [port],
      argv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMib },
    });
    this.#worker.unref();
    // The call that waits for the thread, or the next one, reports that the thread has ended.
    this.#worker.on('error', () => {});
  }

  /** Whether the thread has ended and answers no further call. */
  get isEnded(): boolean {
    return this.#isEnded || Atomics.load(this.#signal, 0) === SIGNAL.ended;
  }

  /** The message of the fault by which the thread has ended; undefined if it ended between two calls. */
  get endedBy(): string | undefined {
    return this.#endedBy;
  }

  /**
   * Waits until the thread has loaded the file, and describes the program. Call it once, before `call`. Throws
   * SVC_PROGRAM_INVALID, SVC_DEFINITION_INVALID.
   */
  loaded(): LoadedProgram {
    const { loadTimeoutMs } = this.#limits;
    const answer = this.#answer(loadTimeoutMs);
    if (answer?.kind === 'loaded') return answer;
    this.end();
    if (answer?.kind === 'refused')
      throw new SvcError(answer.code, `${this.#file}: ${answer.message}`);
    const problem =
      answer?.kind === 'ended'
        ? `It ${answer.problem} while it was loaded.`
        : `It was not loaded within ${loadTimeoutMs} ms.`;
    throw new SvcError('SVC_PROGRAM_INVALID', `${this.#file}: ${problem} ${REMEDY}`);
  }

  /** Sends a call to the thread and returns its result. `what`: subject of a fault's message. Throws GuestFault. */
  call(call: ProgramCall, what: string): unknown {
    const { callTimeoutMs } = this.#limits;
    this.send(call);
    const answer = this.#answer(callTimeoutMs);
    if (answer?.kind === 'value') return answer.value;
    if (answer?.kind === 'fault') {
      const { faultCause, message, guestMessage } = answer;
      throw new GuestFault(faultCause, message, { guestMessage });
    }
    this.end();
    const fault =
      answer?.kind === 'ended'
        ? new GuestFault('trap', `${what} ended its thread: the program ${answer.problem}`)
        : new GuestFault(
            'time',
            // A thread that runs out of memory ends without a message.
            `${what} did not return within ${callTimeoutMs} ms: it computes for too long, or has run out of memory`,
          );
    this.#endedBy = fault.message;
    throw fault;
  }

  /** Posts a message without waiting for an answer. */
  send(message: ToProgram): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    if (!this.#isEnded) this.#channel.port1.postMessage(message);
  }

  end(): void {
    this.#isEnded = true;
    this.#channel.port1.close();
    void this.#worker.terminate();
  }

  /**
   * Waits for the next message of the thread. Returns undefined if there was none in time, or if the thread has ended
   * and its last message was received before.
   */
  #answer(timeoutMs: number): FromProgram | undefined {
    // A message that arrives just now is not read: the thread may not have set the signal yet.
    if (Atomics.wait(this.#signal, 0, SIGNAL.waiting, timeoutMs) === 'timed-out') return undefined;
    const received = receiveMessageOnPort(this.#channel.port1);
    // The signal `ended` is never reset.
    Atomics.compareExchange(this.#signal, 0, SIGNAL.answered, SIGNAL.waiting);
    return received?.message as FromProgram | undefined;
  }
}
