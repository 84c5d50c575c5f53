// VirtualTime executes events in the order of their times, without waiting for any of them. Each event belongs to a process
// (virtual-process.ts), or to nobody. Everything that follows from an event without waiting is done before the next one begins.
//
// Invariants
// - The time never goes back, and it passes only between two events.
// - Events of the same time are executed in the order in which they were scheduled.
import { setImmediate as immediately } from 'node:timers';

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly execute: () => void;
}

/** Events of one turn of the real event loop: each is a callback of its own, after which all promises have reacted. */
const EVENTS_PER_TURN = 64;

export class VirtualTime {
  readonly #queue: Event[] = [];
  #nowMs = 0;
  #order = 0;
  #count = 0;

  /** Milliseconds since the beginning, with fractions. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Number of events that were executed. */
  get count(): number {
    return this.#count;
  }

  /** Executes `execute` after `ms` milliseconds. It must not throw. */
  after(ms: number, execute: () => void): void {
    this.#add({ atMs: this.#nowMs + Math.max(0, ms), order: ++this.#order, execute });
  }

  /** Executes events until `isOver` returns true. Rejects if none is left before, or after `eventsMax` events. */
  run(isOver: () => boolean, eventsMax = Infinity): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const lastCount = this.#count + eventsMax;
    let hasEnded = false;
    const one = (): void => {
      if (hasEnded) return;
      try {
        hasEnded = isOver();
        if (hasEnded) resolve();
        else if (this.#count >= lastCount) throw new Error(`there were ${eventsMax} events`);
        else this.#executeNext();
      } catch (error) {
        hasEnded = true;
        reject(error);
      }
    };
    const turn = (): void => {
      if (hasEnded) return;
      for (let number = 0; number < EVENTS_PER_TURN; number++) immediately(one);
      immediately(turn);
    };
    turn();
    return promise;
  }

  /** Lets so many milliseconds pass. */
  async advance(ms: number): Promise<void> {
    let isOver = false;
    this.after(ms, () => {
      isOver = true;
    });
    await this.run(() => isOver);
  }

  #executeNext(): void {
    const event = this.#take();
    if (event === undefined) throw new Error('nothing is left to happen');
    this.#nowMs = event.atMs;
    this.#count++;
    event.execute();
  }

  #add(event: Event): void {
    const queue = this.#queue;
    let at = queue.length;
    queue.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, queue[parent]!)) break;
      queue[at] = queue[parent]!;
      at = parent;
    }
    queue[at] = event;
  }

  #take(): Event | undefined {
    const queue = this.#queue;
    const first = queue[0];
    const last = queue.pop();
    if (last === undefined || queue.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && isBefore(queue[child + 1]!, queue[child]!)) child++;
      if (!isBefore(queue[child]!, last)) break;
      queue[at] = queue[child]!;
      at = child;
    }
    queue[at] = last;
    return first;
  }
}

function isBefore(left: Event, right: Event): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
}
