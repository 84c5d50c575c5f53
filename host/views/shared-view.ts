// SharedView is what the threads of a service share about one view: up to which position its events are folded, and whether
// its queries are answered. The thread that folds the events sets it, and the shards read it and wait for it.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { SharedViewMemory } from '@svc/model/view';
import { SharedPosition } from './shared-position.ts';

/**
 * - `starting`: no thread has looked at the rows yet.
 * - `building`: the rows are being built.
 * - `live`: events are folded as they are stored.
 * - `stopped`: an event could not be folded, and no later event is.
 */
export type ViewState = 'starting' | 'building' | 'live' | 'stopped';

const STATES: readonly ViewState[] = ['starting', 'building', 'live', 'stopped'];

/**
 * Indices of the state, of whether a damaged row was found, of whether the building pauses, and of whether a reader waits for
 * events.
 */
const STATE = 0;
const DAMAGE = 1;
const PAUSE = 2;
const HURRY = 3;
const FLAGS = 4;

export class SharedView {
  readonly #position: SharedPosition;
  readonly #state: Int32Array;
  readonly #former: SharedPosition;

  /** `memory`: that of another thread's SharedView; without it, new memory is allocated, for a view that is starting. */
  constructor(memory?: SharedViewMemory) {
    this.#position = new SharedPosition(memory?.position);
    this.#state = new Int32Array(
      memory?.state ?? new SharedArrayBuffer(FLAGS * Int32Array.BYTES_PER_ELEMENT),
    );
    this.#former = new SharedPosition(memory?.former);
  }

  /** Memory to create another thread's SharedView with. */
  get memory(): SharedViewMemory {
    return {
      position: this.#position.shared,
      state: this.#state.buffer as SharedArrayBuffer,
      former: this.#former.shared,
    };
  }

  /** The position up to which events are folded; an empty text if it is not known yet. */
  get position(): string {
    return this.#position.get();
  }

  get state(): ViewState {
    return STATES[Atomics.load(this.#state, STATE)]!;
  }

  /** The former definition whose rows answer queries until the view is live; an empty text if there is none. */
  get former(): string {
    return this.#former.get();
  }

  /** Sets `former`. Only the thread that may call `become` may call this. */
  answerWith(former: string): void {
    this.#former.set(former);
  }

  /** Whether the building pauses until the disk has space. */
  get isPaused(): boolean {
    return Atomics.load(this.#state, PAUSE) !== 0;
  }

  /** Sets `isPaused`. Only the thread that may call `become` may call this. */
  pause(isPaused: boolean): void {
    Atomics.store(this.#state, PAUSE, isPaused ? 1 : 0);
  }

  /** Sets the position. Only one thread at a time may call this and `become`. */
  foldedTo(position: string): void {
    this.#position.set(position);
  }

  become(state: ViewState): void {
    if (state === this.state) return;
    Atomics.store(this.#state, STATE, STATES.indexOf(state));
    // Wakes the threads that wait, even those that have just looked at the former state.
    this.#position.set(this.#position.get());
  }

  /** Reports that a damaged row was found, so that the rows are built again. Any thread may call it. */
  reportDamage(): void {
    Atomics.store(this.#state, DAMAGE, 1);
    Atomics.notify(this.#state, DAMAGE);
  }

  /** Forgets reported damage: the rows are new. */
  clearDamage(): void {
    Atomics.store(this.#state, DAMAGE, 0);
  }

  /** Resolves with true once damage is reported that was not cleared, or with false when `signal` is aborted. */
  async damaged(signal: AbortSignal): Promise<boolean> {
    // What waits for this memory would be kept for ever.
    const wake = () => void Atomics.notify(this.#state, DAMAGE);
    signal.addEventListener('abort', wake);
    try {
      while (Atomics.load(this.#state, DAMAGE) === 0 && !signal.aborted)
        await Atomics.waitAsync(this.#state, DAMAGE, 0).value;
      return !signal.aborted;
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Asks that events which are stored are folded without a wait for further ones. Any thread may call it. */
  hurry(): void {
    Atomics.store(this.#state, HURRY, 1);
    Atomics.notify(this.#state, HURRY);
  }

  /**
   * Resolves when a reader has called `hurry` since this last resolved for one, or `signal` is aborted. Only one caller at a
   * time may wait.
   */
  async hurried(signal: AbortSignal): Promise<void> {
    const wake = () => void Atomics.notify(this.#state, HURRY);
    signal.addEventListener('abort', wake);
    try {
      while (Atomics.exchange(this.#state, HURRY, 0) === 0 && !signal.aborted)
        await Atomics.waitAsync(this.#state, HURRY, 0).value;
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Resolves with true once `isReached` holds for the view, or with false at `untilMs` by `monotonicMs(clock)`. */
  async reached(
    isReached: (view: SharedView) => boolean,
    untilMs: number,
    clock?: ServiceClock,
  ): Promise<boolean> {
    const has = () => isReached(this);
    const waitMs = Math.max(0, untilMs - monotonicMs(clock));
    if (clock === undefined || waitMs === 0) return this.#position.reached(has, waitMs);
    const late = new AbortController();
    const cancel = clock.after(waitMs, () => late.abort());
    try {
      return await this.#position.reached(has, Infinity, late.signal);
    } finally {
      cancel();
    }
  }
}

/** Returns the milliseconds of a clock that never go back; without one, those of the machine. */
export function monotonicMs(clock: ServiceClock | undefined): number {
  return clock === undefined ? performance.now() : clock.monotonicMs();
}
