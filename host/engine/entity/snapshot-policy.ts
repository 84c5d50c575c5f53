// SnapshotPolicy decides which states of a module's entities are worth keeping, for the engine: one is kept
// where reading it is cheaper than folding what it stands for, and never more is written than the events were.
//
// Invariants
// P1  A component whose states cannot be written, or lead to faults when they are read, has no snapshots any more:
//     after the first fault that can be nobody else's, and after a few in a row that may be. Where a state met a
//     limit, which its size has brought about, it is that entity alone.
// P2  A state is kept only if it comes back from the disk as the text that it was.
import type { EntityRef } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { Journal } from '../needs/journal.ts';
import { quoted } from '../quoted.ts';
import { entityName } from './history.ts';
import { fitsUtf8 } from '../text-size.ts';

/** What was folded since the last snapshot of an entity, or since its life began. */
export interface Growth {
  events: number;
  /** As appendBytes has it: what folding them anew costs. */
  bytes: number;
  /** Of the snapshot before, or of a state that was too large to be worth one. */
  stateBytes: number;
}

export interface SnapshotNeeds {
  readonly journal: Pick<Journal, 'keepSnapshot'>;
  readonly clock: Clock;
  readonly faultLog: FaultLog;
  readonly limits: Pick<EngineLimits, 'snapshotIntervalEvents' | 'snapshotBytesMax'>;
  /** Of the module; undefined: there are no snapshots. */
  readonly fingerprint: string | undefined;
}

/** An entity that leaves memory is worth one after this part of the interval. */
const PART_AT_CLOSE = 4;
/** All that are taken when the engine closes take no longer than this, and the one in which it runs out. */
const CLOSING_MS = 1_000;
/** Whose states met a limit. The one that did so longest ago is forgotten, and tried again. */
const TOO_LARGE_MAX = 10_000;
/** In a row, of a component. */
const FAULTS_MAX = 3;
const BYTES_PER_UNIT = 2;

export class SnapshotPolicy {
  readonly #needs: SnapshotNeeds;
  readonly #intervalEvents: number;
  readonly #atCloseEvents: number;
  /** Components that have none any more. */
  readonly #without = new Set<string>();
  /** By component, how many states in a row could not be written, or not be read. */
  readonly #unwritten = new Map<string, number>();
  readonly #unread = new Map<string, number>();
  /** Entities, by component and id. */
  readonly #tooLarge = new Set<string>();
  #closingSinceMs: number | undefined = undefined;
  /** Entities that are closed once their snapshot is taken. */
  readonly #closing = new Set<Promise<void>>();

  constructor(needs: SnapshotNeeds) {
    this.#needs = needs;
    const { snapshotIntervalEvents: interval } = needs.limits;
    const isOn = needs.fingerprint !== undefined && interval > 0;
    this.#intervalEvents = isOn ? interval : Infinity;
    this.#atCloseEvents = isOn ? Math.ceil(interval / PART_AT_CLOSE) : Infinity;
  }

  /** Its state met a limit when it was last to be written. */
  isTooLarge(entity: EntityRef): boolean {
    return this.#tooLarge.size > 0 && this.#tooLarge.has(keyOf(entity));
  }

  /** Of the snapshots that may be used for an entity; undefined: none. */
  fingerprintFor({ component }: EntityRef): string | undefined {
    return this.#intervalEvents === Infinity || this.#without.has(component)
      ? undefined
      : this.#needs.fingerprint;
  }

  /** One has led to the state. */
  led({ component }: EntityRef): void {
    if (this.#unread.size > 0) this.#unread.delete(component);
  }

  /** One has led to a fault, and the journal has not. */
  misled(entity: EntityRef, fault: Error): void {
    if (isLastOf(this.#unread, entity))
      this.#turnOff(entity, fault, 'Snapshots led to faults, and the events did not');
  }

  /** Whether a snapshot is to be taken of an entity that stays in memory. */
  isDue({ component }: EntityRef, { events, bytes, stateBytes: before }: Growth): boolean {
    return events >= this.#intervalEvents && bytes >= before && !this.#without.has(component);
  }

  /** And of one that leaves it. */
  isDueAtClose({ component }: EntityRef, { events, bytes, stateBytes: before }: Growth): boolean {
    if (events < this.#atCloseEvents || bytes < before || this.#without.has(component))
      return false;
    if (this.#closingSinceMs === undefined) return true;
    const passedMs = this.#needs.clock.nowMs() - this.#closingSinceMs;
    return passedMs >= 0 && passedMs < CLOSING_MS;
  }

  /** Whether a state that was taken is kept. Notes in `growth` what it costs. */
  isWorthKeeping({ component }: EntityRef, state: string, growth: Growth): boolean {
    if (this.#unwritten.size > 0) this.#unwritten.delete(component);
    const bytes = stateBytes(state);
    const isStorable =
      fitsUtf8(state, this.#needs.limits.snapshotBytesMax) &&
      state.isWellFormed() &&
      !state.includes('\0');
    const isWorth = isStorable && bytes <= growth.bytes;
    growth.stateBytes = isStorable ? bytes : Infinity;
    if (isWorth) {
      growth.events = 0;
      growth.bytes = 0;
    }
    return isWorth;
  }

  /** Keeps the state after a record that is on disk. */
  keep(entity: EntityRef, seq: number, state: string): void {
    const { journal, fingerprint } = this.#needs;
    if (fingerprint !== undefined) journal.keepSnapshot(entity, { seq, fingerprint, state });
  }

  /**
   * The state could not be written. Throws what is no fault of the guest. `isOwn`: another entity cannot have
   * taken the instance away meanwhile.
   */
  failed(entity: EntityRef, fault: unknown, isOwn: boolean): void {
    if (!(fault instanceof GuestFault)) throw fault;
    if (fault.limit !== undefined) this.#metLimit(entity, fault);
    else if (isOwn || isLastOf(this.#unwritten, entity))
      this.#turnOff(entity, fault, 'The state could not be written as JSON');
  }

  closes(done: Promise<void>): void {
    this.#closing.add(done);
    void done.finally(() => this.#closing.delete(done));
  }

  /** From here on all that are taken have a time. */
  stop(): void {
    this.#closingSinceMs = this.#needs.clock.nowMs();
  }

  /** Resolves when no entity waits for its snapshot to be closed. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #metLimit(entity: EntityRef, fault: GuestFault): void {
    if (this.#tooLarge.size >= TOO_LARGE_MAX)
      for (const oldest of this.#tooLarge.keys()) {
        this.#tooLarge.delete(oldest);
        break;
      }
    this.#tooLarge.add(keyOf(entity));
    const message =
      `The state of ${entityName(entity)} is too large to be written: no snapshots of it are taken any more, ` +
      `and it is folded from its events. ${fault.message}`;
    this.#needs.faultLog(entity, undefined, fault.explained(message));
  }

  #turnOff(entity: EntityRef, fault: Error, what: string): void {
    this.#without.add(entity.component);
    const message =
      `${what}: no snapshots of component ${quoted(entity.component)} are taken or used any more, and its ` +
      `entities are folded from their events. ${fault.message}`;
    const logged =
      fault instanceof GuestFault
        ? fault.explained(message)
        : new GuestFault('value', message, { cause: fault });
    this.#needs.faultLog(entity, undefined, logged);
  }
}

/** Counts a fault: whether it was one too many. */
function isLastOf(faults: Map<string, number>, { component }: EntityRef): boolean {
  const count = (faults.get(component) ?? 0) + 1;
  faults.set(component, count);
  return count >= FAULTS_MAX;
}

/** Neither name holds a line feed. */
function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

export function stateBytes(state: string): number {
  return state.length * BYTES_PER_UNIT;
}
