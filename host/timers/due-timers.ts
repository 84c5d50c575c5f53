// DueTimers holds a bounded part of the timers that are due, and reads more from the journal, a page at a time. It reads
// them in their order ("a sweep"): timers whose target is busy wait in memory, up to a limit, and the sweep goes on to
// the timers of other targets behind them. What finds no place in memory is read again by a later sweep.
//
// Invariants
// D1  Each timer up to the position of the sweep is held, or was handed out since it was read, or its target was paused,
//     or it found no place, or it was stored later. A later read finds those of the last three kinds.
// D2  No timer is held that is in flight, and none is held twice.
// D3  The held timers are in the order of due timers.
import type { DuePosition, DueTimer } from '../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { TimerSource } from '../engine/needs/timer-source.ts';

/** Timers that one read returns at most. */
const PAGE = 256;
/** Timers of busy targets that are held while a sweep goes on. */
const HELD_MAX = 256;
/** Rest after a sweep of several pages until the next one: half a second, and some twice the time that its pages took. */
const REST_MS = 500;
const REST_PER_PAGE_MS = 4;

export interface HeldTimer {
  readonly timer: DueTimer;
  /** A text that is unique among targets. */
  readonly target: string;
}

/** Decides which of the timers that were read can be held. */
export interface HeldTest {
  /** Whether the timer of this number is in flight. */
  readonly isInFlight: (number: number) => boolean;
  /** Whether any timer of the target is in flight. */
  readonly isBusy: (target: string) => boolean;
  readonly isPaused: (target: string) => boolean;
}

export class DueTimers {
  readonly #source: TimerSource;
  #held: HeldTimer[] = [];
  #after: DuePosition | undefined;
  #isAtEnd = true;
  /** The position behind which timers found no place. Undefined: all did. */
  #fullTo: DuePosition | undefined;
  /** Pages that this sweep has read until it was at its end for the first time. */
  #pages = 0;
  /** When the next sweep may start, by the monotonic clock; undefined: this one has not been at its end. */
  #restartMs: number | undefined;

  constructor(source: TimerSource) {
    this.#source = source;
  }

  /** Whether the sweep has read all that was due. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /**
   * Lets `read` look for timers that have become due. A sweep that is under way goes on. One at its end starts again if
   * it was a page, or has rested; else it goes on with timers that are due later than those it has read.
   */
  look(monotonicMs: number): void {
    if (!this.#isAtEnd) return;
    this.#isAtEnd = false;
    if (this.#restartMs !== undefined && this.#pages > 1 && monotonicMs < this.#restartMs) return;
    this.#held = [];
    this.#after = undefined;
    this.#fullTo = undefined;
    this.#pages = 0;
    this.#restartMs = undefined;
  }

  /**
   * Offers the held timers that are due, in their order. Those that are `taken` are held no longer; the first that is
   * refused as `full` ends the offer. Returns whether one was.
   */
  offer(nowMs: number, start: (held: HeldTimer) => 'taken' | 'kept' | 'full'): boolean {
    const held = this.#held;
    let kept = 0;
    let offered = 0;
    let isFull = false;
    for (; offered < held.length; offered++) {
      const one = held[offered]!;
      const answer = one.timer.nextMs <= nowMs ? start(one) : 'kept';
      isFull = answer === 'full';
      if (isFull) break;
      if (answer === 'kept') held[kept++] = one;
    }
    held.splice(kept, offered - kept);
    return isFull;
  }

  /**
   * Reads the next page of the sweep, if it is not at its end. Reads the first page again if a timer found no place, and
   * those before it have been handed out. Call it when no held timer can be started, and nothing else until it has resolved.
   * `test` has to say what was in flight when it was called. Rejects as the source does.
   */
  async read(nowMs: number, monotonicMs: number, test: HeldTest): Promise<void> {
    const first = this.#held[0]?.timer;
    const isDrained = first === undefined || isBehind(this.#fullTo, first);
    if (this.#fullTo !== undefined && isDrained && (await this.#readFirst(nowMs, test))) return;
    if (this.#isAtEnd) return;
    this.#makeRoom();
    const page = await this.#source.due(nowMs, PAGE, this.#after);
    this.#after = page.at(-1) ?? this.#after;
    this.#isAtEnd = page.length < PAGE;
    // A timer of a busy target may not overtake those of the same target that found no place.
    const mayQueue = this.#fullTo === undefined;
    for (const timer of page) {
      const target = keyOf(timer.target);
      const isElsewhere = mayQueue ? test.isInFlight(timer.number) : test.isBusy(target);
      if (!isElsewhere && !test.isPaused(target)) this.#held.push({ timer, target });
    }
    if (this.#restartMs !== undefined) return;
    this.#pages += 1;
    if (this.#isAtEnd) this.#restartMs = monotonicMs + REST_MS + REST_PER_PAGE_MS * this.#pages;
  }

  #makeRoom(): void {
    if (this.#fullTo === undefined && this.#held.length > HELD_MAX)
      this.#fullTo = this.#held[HELD_MAX - 1]!.timer;
    const end = this.#fullTo;
    if (end !== undefined) this.#held = this.#held.filter(({ timer }) => !isBehind(end, timer));
  }

  /** Holds the timers of the first page alone, and returns whether there are any. So the long backlog of a target goes on. */
  async #readFirst(nowMs: number, test: HeldTest): Promise<boolean> {
    const page = await this.#source.due(nowMs, PAGE, undefined);
    const last = page.at(-1);
    if (last !== undefined && isBehind(this.#after, last)) this.#after = last;
    this.#fullTo = page.length < PAGE ? undefined : last;
    this.#held = page
      .filter(({ number }) => !test.isInFlight(number))
      .map((timer) => ({ timer, target: keyOf(timer.target) }))
      .filter(({ target }) => !test.isPaused(target));
    return this.#held.length > 0;
  }
}

/** The id of a component has no line break. */
function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

/** Whether the other position comes after this one; it does if this one is undefined. */
function isBehind(position: DuePosition | undefined, other: DuePosition): boolean {
  if (position === undefined) return true;
  if (position.nextMs !== other.nextMs) return position.nextMs < other.nextMs;
  return position.number < other.number;
}
