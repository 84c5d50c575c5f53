// VirtualNetwork carries what processes send each other: each direction between two of them has its own delays, lets nothing through
// while it is held, and keeps the order of each connection.
//
// Invariant: what is held arrives later, as TCP sends it again, unless the connection has ended meanwhile.
import type { Random } from '../random.ts';
import type { VirtualProcess } from './virtual-process.ts';

/** Delays, in milliseconds: of most messages, and of those that are late. */
const DELAY_MS = 0.5;
const LATE_MS = 30;
/** One of so many messages is late. */
const LATE_EVERY = 40;
const PARTS = 1_000;

interface Held {
  readonly to: VirtualProcess;
  readonly arrives: () => void;
}

/** One direction of a connection: what is sent on it arrives in this order. */
export interface Lane {
  arrivesMs: number;
}

export class VirtualNetwork {
  readonly #random: Random;
  /** The names of the two processes of a direction, and what waits there. */
  readonly #held = new Map<string, Held[]>();
  readonly #hosts = new Map<string, VirtualProcess>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lets a process be found under its name; a later process may have the name of one that has ended. */
  add(process: VirtualProcess): void {
    this.#hosts.set(process.name, process);
  }

  find(host: string): VirtualProcess | undefined {
    return this.#hosts.get(host);
  }

  /** Executes something at another process when a message from here has arrived there. */
  send(from: VirtualProcess, to: VirtualProcess, lane: Lane, arrives: () => void): void {
    const held = this.#held.get(direction(from.name, to.name));
    if (held === undefined) this.#deliver(to, lane, arrives);
    else held.push({ to, arrives: () => this.#deliver(to, lane, arrives) });
  }

  /** Lets nothing from one process to another through. */
  hold(from: string, to: string): void {
    const name = direction(from, to);
    if (!this.#held.has(name)) this.#held.set(name, []);
  }

  /** Whether a direction is held. */
  isHeld(from: string, to: string): boolean {
    return this.#held.has(direction(from, to));
  }

  /** Lets everything through again. */
  release(from: string, to: string): void {
    const name = direction(from, to);
    const held = this.#held.get(name) ?? [];
    this.#held.delete(name);
    for (const { arrives } of held) arrives();
  }

  /** Lets everything through again, in all directions. */
  releaseAll(): void {
    for (const name of this.#held.keys()) {
      const [from, to] = name.split(' > ') as [string, string];
      this.release(from, to);
    }
  }

  #deliver(to: VirtualProcess, lane: Lane, arrives: () => void): void {
    const { nowMs } = to.time;
    const boundMs = this.#random.below(LATE_EVERY) === 0 ? LATE_MS : DELAY_MS;
    const delayMs = (this.#random.below(PARTS) / PARTS) * boundMs;
    lane.arrivesMs = Math.max(lane.arrivesMs, nowMs + delayMs);
    to.arrives(lane.arrivesMs - nowMs, arrives);
  }
}

function direction(from: string, to: string): string {
  return `${from} > ${to}`;
}
