// ProcessTarget: the process beside the proxy, on loopback.
import {
  DEFAULT_CLIENT_LIMITS,
  Pool,
  tcpConnect,
  type ClientFailure,
  type ClientLimits,
  type Sweep,
} from '@svc/http1';
import { answer } from './answers.ts';
import type { ForwardLimits } from './forward-limits.ts';
import type { OwnAnswer } from './own-answer.ts';
import type { InstanceAddress } from './service-finder.ts';
import { answerToPeer, type Target, type TargetOutcome, type TargetTaking } from './target.ts';

export interface ProcessTargetOptions {
  /** Where the process listens, or a function that returns where it listens now. */
  readonly address: InstanceAddress | (() => InstanceAddress);
  readonly limits: ForwardLimits;
  readonly sweep: Sweep;
  readonly clientLimits?: ClientLimits;
  /** Words the answer to a failure; absent: as the proxy does. */
  readonly answerTo?: (failure: ClientFailure) => OwnAnswer;
}

export class ProcessTarget implements Target {
  readonly responder = 'process';
  readonly #limits: ForwardLimits;
  readonly #pool: Pool;
  readonly #answerTo: ((failure: ClientFailure) => OwnAnswer) | undefined;

  constructor({
    address,
    limits,
    sweep,
    clientLimits = DEFAULT_CLIENT_LIMITS,
    answerTo,
  }: ProcessTargetOptions) {
    const { connectTimeoutMs, answerTimeoutMs, idleMsMax } = limits;
    this.#limits = limits;
    this.#answerTo = answerTo;
    this.#pool = new Pool({
      connect: (onread, settled) => {
        const now = typeof address === 'function' ? address() : address;
        return tcpConnect(now, connectTimeoutMs, sweep)(onread, settled);
      },
      limits: clientLimits,
      times: {
        connectMs: connectTimeoutMs,
        responseMs: answerTimeoutMs,
        idleMs: idleMsMax,
        lifetimeMs: () => Infinity,
      },
      sweep,
    });
  }

  take({ fresh, canRepeat }: TargetTaking, taken: (outcome: TargetOutcome) => void): () => void {
    // A process may close an idle connection at any moment, and only some requests can be sent again.
    const idleMsMax = canRepeat ? Infinity : this.#limits.unrepeatableIdleMsMax;
    return this.#pool.take({ fresh, idleMsMax }, (outcome) =>
      taken(
        outcome.connection === undefined
          ? { connection: undefined, answer: this.answerTo(outcome.failure) }
          : outcome,
      ),
    );
  }

  answerTo(failure: ClientFailure): OwnAnswer {
    return (
      this.#answerTo?.(failure) ??
      answerToPeer(failure, 'process', this.#limits.answerTimeoutMs) ??
      answer('process-not-listening', {})
    );
  }

  close(): void {
    this.#pool.close();
  }
}
