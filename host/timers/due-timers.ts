// DueTimers holds a bounded part of the timers that are due, and reads more from the journal, a page at a time. It reads
// them in their order ("a sweep"): timers whose target is busy wait in memory, up to a limit, and the sweep goes on to
// the timers of other targets behind them. What finds no place in memory is read again by a later sweep.
//
// Invariants
// D1  Each timer up to the position of the sweep is held, or was handed out since it was read, or `#hasDropped` is true,
//     unless it was stored after its position was read.
// D2  No timer is held that is in flight, and none is held twice.
// D3  The held timers are in the order of due timers.
import type { DuePosition, PendingTimer, TimerSource } from './timer-source.ts';

/** Timers that one read returns at most. */
const PAGE = 256;
/** Timers of busy targets that are held while a sweep goes on. */
const HELD_MAX = 1024;
/** Rest between two sweeps that could not hold all that is due: half a second, and some twice the time that its pages took. */
const REST_MS = 500;
const REST_PER_PAGE_MS = 4;

/** Decides which of the timers that were read can be held. */
export interface HeldTest {
  isInFlight(timer: PendingTimer): boolean;
  isPaused(timer: PendingTimer): boolean;
}

export class DueTimers {
  readonly #source: TimerSource;
  #held: PendingTimer[] = [];
  #after: DuePosition | undefined;
  #isAtEnd = true;
  #hasDropped = false;
  /** Pages that this sweep has read. */
  #pages = 0;
  /** When the next sweep may start if `#hasDropped`. */
  #restartMs = 0;

  constructor(source: TimerSource) {
    this.#source = source;
  }

  /** Whether the sweep has read all that was due. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Starts to read from the first due timer on. Call it when the clock has gone back. */
  restart(): void {
    this.#held = [];
    this.#after = undefined;
    this.#isAtEnd = false;
    this.#hasDropped = false;
    this.#pages = 0;
  }

  /** Lets `read` look for timers that have become due. A sweep that is under way goes on. */
  look(monotonicMs: number): void {
    if (!this.#isAtEnd) return;
    if (!this.#hasDropped || monotonicMs >= this.#restartMs) this.restart();
    else this.#isAtEnd = false;
  }

  /** Says that a timer which was handed out is due still. */
  giveBack(): void {
    this.#hasDropped = true;
  }

  /** Returns the first held timer that is due and can be started, and holds it no longer; undefined: there is none. */
  take(nowMs: number, canStart: (timer: PendingTimer) => boolean): PendingTimer | undefined {
    const index = this.#held.findIndex((timer) => timer.nextMs <= nowMs && canStart(timer));
    return index === -1 ? undefined : this.#held.splice(index, 1)[0];
  }

  /** Reads the next page of the sweep. At its end, reads the first page again if it has dropped timers and holds none. */
  read(nowMs: number, monotonicMs: number, test: HeldTest): void {
    if (this.#isAtEnd) {
      if (this.#hasDropped && this.#held.length === 0) this.#readFirst(nowMs, test);
      return;
    }
    if (this.#held.length > HELD_MAX) {
      this.#held.length = HELD_MAX;
      this.#hasDropped = true;
    }
    const page = this.#source.due(nowMs, PAGE, this.#after);
    this.#after = page.at(-1) ?? this.#after;
    this.#isAtEnd = page.length < PAGE;
    this.#hold(page, test);
    this.#pages += 1;
    if (this.#isAtEnd) this.#restartMs = monotonicMs + REST_MS + REST_PER_PAGE_MS * this.#pages;
  }

  /** A backlog of one target is longer than what is held: it goes on, without a sweep over all that is due. */
  #readFirst(nowMs: number, test: HeldTest): void {
    const page = this.#source.due(nowMs, PAGE, undefined);
    const last = page.at(-1);
    if (last !== undefined && isBehind(this.#after, last)) this.#after = last;
    this.#hold(page, test);
  }

  #hold(page: readonly PendingTimer[], test: HeldTest): void {
    for (const timer of page) {
      if (test.isInFlight(timer)) continue;
      if (test.isPaused(timer)) this.#hasDropped = true;
      else this.#held.push(timer);
    }
  }
}

function isBehind(position: DuePosition | undefined, other: DuePosition): boolean {
  if (position === undefined) return true;
  if (position.nextMs !== other.nextMs) return position.nextMs < other.nextMs;
  return position.number < other.number;
}
