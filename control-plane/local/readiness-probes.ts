// ReadinessProbes: asks instances at /ready whether they take requests. Their state files say what they think of themselves; a process that
// is stopped, or hangs, still says there that it is ready.
//
// Invariants
// Q1  One question at a time is open for each instance, and each has a deadline.
// Q2  An instance that this process has started is ready once it has said so itself. One that it has found counts as ready until it
//     has left several questions unanswered, so a control plane that starts takes none out of service.
import { send } from '@svc/kit/local-request';
import type { InstanceAddress } from './instance-addresses.ts';
import type { LocalClock } from './local-clock.ts';
import type { LocalSection } from './local-section.ts';

/** State of an instance whose state file says that it is ready. */
export interface Readiness {
  readonly isReady: boolean;
  /** False: the next question should come soon. */
  readonly isCertain: boolean;
  /** Since when no question was answered, by the clock of the boot; undefined if the last one was. */
  readonly silentSinceMs: number | undefined;
}

interface Probed {
  isReady: boolean;
  /** Questions since the last answer that the instance is ready. */
  failures: number;
  silentSinceMs: number | undefined;
  askedMs: number;
  isOpen: boolean;
}

export class ReadinessProbes {
  readonly #section: LocalSection;
  readonly #clock: LocalClock;
  /** Indexed by the name of the instance. */
  readonly #probed = new Map<string, Probed>();

  constructor(section: LocalSection, clock: LocalClock) {
    this.#section = section;
    this.#clock = clock;
  }

  /** Called when a run of the instance begins: it has to say itself that it is ready. */
  begin(name: string): void {
    this.#probed.set(name, probed(false));
  }

  forget(name: string): void {
    this.#probed.delete(name);
  }

  of(name: string): Readiness {
    const { isReady, failures, silentSinceMs } = this.#probed.get(name) ?? probed(true);
    return { isReady, isCertain: isReady && failures === 0, silentSinceMs };
  }

  /** Asks the instance, if the last question is older than half of the interval. `changed` is called when the answer changes what is known. */
  ask(name: string, at: InstanceAddress, intervalMs: number, changed: () => void): void {
    const one = this.#probed.get(name) ?? probed(true);
    this.#probed.set(name, one);
    const nowMs = this.#clock.bootMs();
    // A look may come early, for another reason, or because services are looked at together.
    if (one.isOpen || nowMs - one.askedMs < intervalMs / 2) return;
    one.isOpen = true;
    one.askedMs = nowMs;
    void this.#answer(at).then((answer) => {
      one.isOpen = false;
      // Another run may have begun meanwhile.
      if (this.#probed.get(name) !== one) return;
      const before = JSON.stringify(this.of(name));
      one.failures = answer === 'ready' ? 0 : one.failures + 1;
      one.silentSinceMs = answer === 'silent' ? (one.silentSinceMs ?? nowMs) : undefined;
      if (answer === 'ready') one.isReady = true;
      else if (one.failures >= this.#section.readyFailures) one.isReady = false;
      if (JSON.stringify(this.of(name)) !== before) changed();
    });
  }

  async #answer({ address, ports }: InstanceAddress): Promise<'ready' | 'not-ready' | 'silent'> {
    const answer = await send(
      { host: address, port: ports.management },
      { method: 'GET', path: '/ready', deadlineMs: this.#section.readyTimeoutMs },
    );
    if (answer.kind !== 'answer') return 'silent';
    return answer.status === 200 ? 'ready' : 'not-ready';
  }
}

function probed(isReady: boolean): Probed {
  return {
    isReady,
    failures: 0,
    silentSinceMs: undefined,
    askedMs: Number.NEGATIVE_INFINITY,
    isOpen: false,
  };
}
