// SnapshotPolicy decides for an engine which states are stored as snapshots: those that are cheaper to read than their events
// are to fold. Snapshots never take more bytes than the events since the last snapshot.
//
// Invariants
// P1  A component whose states cannot be written, or lead to faults when they are read, has no snapshots any more. One
//     fault at writing is enough where no other entity can have caused it; FAULTS_MAX in a row otherwise, and at
//     reading. Where the guest has exceeded a limit while it wrote a state, which is due to the size of the state, that
//     entity alone has no snapshots any more.
// P2  A state is stored only if the journal returns the same text.
import type { EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { MonotonicClock } from '../needs/clock.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { Journal } from '../needs/journal.ts';
import { quoted } from '../quoted.ts';
import { entityName } from './history.ts';
import { fitsUtf8 } from '../text-size.ts';

/** The growth of an entity since its last snapshot, or since its incarnation began. */
export interface Growth {
  events: number;
  /** Bytes of the events as `appendBytes` counts them: an estimate of the cost of a fold. */
  bytes: number;
  /**
   * Bytes of the state at the last attempt to take a snapshot, or of the snapshot from which the entity was loaded; 0:
   * neither. Infinity: a state that cannot be stored.
   */
  stateBytes: number;
}

export interface SnapshotNeeds {
  readonly journal: Pick<Journal, 'keepSnapshot'>;
  readonly clock: MonotonicClock;
  readonly faultLog: FaultLog;
  readonly limits: Pick<EngineLimits, 'snapshotIntervalEvents' | 'snapshotBytesMax'>;
  /** Fingerprint of the module; undefined: there are no snapshots. */
  readonly fingerprint: string | undefined;
}

/** An entity that leaves memory gets a snapshot after `snapshotIntervalEvents` / PART_AT_CLOSE events. */
const PART_AT_CLOSE = 4;
/** Milliseconds after which no further snapshot is taken while the engine closes. */
const CLOSING_MS = 1_000;
/** Most entities in `#tooLarge`. Above this number, the entity that has been there longest is forgotten. */
const TOO_LARGE_MAX = 10_000;
/** The number of faults in a row after which a component has no snapshots any more. */
const FAULTS_MAX = 3;
const BYTES_PER_UNIT = 2;

export class SnapshotPolicy {
  readonly #needs: SnapshotNeeds;
  readonly #intervalEvents: number;
  readonly #atCloseEvents: number;
  /** Components that have no snapshots any more. */
  readonly #without = new Set<string>();
  /** The number of states in a row that could not be written, by component. */
  readonly #unwritten = new Map<string, number>();
  /** The number of states in a row that could not be read, by component. */
  readonly #unread = new Map<string, number>();
  /** Entities at which the guest exceeded a limit while it wrote their state, by component and id. */
  readonly #tooLarge = new Set<string>();
  #closingSinceMs: number | undefined = undefined;
  /** One promise for each entity that closes once its snapshot is taken. It resolves after that. */
  readonly #closing = new Set<Promise<void>>();

  constructor(needs: SnapshotNeeds) {
    this.#needs = needs;
    const { snapshotIntervalEvents: interval } = needs.limits;
    const isOn = needs.fingerprint !== undefined && interval > 0;
    this.#intervalEvents = isOn ? interval : Infinity;
    this.#atCloseEvents = isOn ? Math.ceil(interval / PART_AT_CLOSE) : Infinity;
  }

  /**
   * Whether the guest exceeded a limit when it wrote the state of the entity for a snapshot. A state that was written,
   * but is larger than `snapshotBytesMax`, does not count.
   */
  isTooLarge(entity: EntityRef): boolean {
    return this.#tooLarge.size > 0 && this.#tooLarge.has(keyOf(entity));
  }

  /** Returns the fingerprint of the snapshots that may be used for an entity; undefined if none may be used. */
  fingerprintFor({ component }: EntityRef): string | undefined {
    return this.#intervalEvents === Infinity || this.#without.has(component)
      ? undefined
      : this.#needs.fingerprint;
  }

  /** Called when a replay that began with a snapshot has succeeded. */
  restored({ component }: EntityRef): void {
    if (this.#unread.size > 0) this.#unread.delete(component);
  }

  /** Called when a replay that began with a snapshot has faulted, and a replay without it has succeeded. */
  restoreFailed(entity: EntityRef, fault: Error): void {
    if (isLastOf(this.#unread, entity))
      this.#turnOff(entity, fault, 'Snapshots led to faults, and the events did not');
  }

  /** Whether a snapshot is to be taken of an entity that stays in memory. */
  isDue({ component }: EntityRef, { events, bytes, stateBytes: before }: Growth): boolean {
    return events >= this.#intervalEvents && bytes >= before && !this.#without.has(component);
  }

  /** Whether a snapshot is to be taken of an entity that leaves memory. */
  isDueAtClose({ component }: EntityRef, { events, bytes, stateBytes: before }: Growth): boolean {
    if (events < this.#atCloseEvents || bytes < before || this.#without.has(component))
      return false;
    if (this.#closingSinceMs === undefined) return true;
    return this.#needs.clock.monotonicMs() - this.#closingSinceMs < CLOSING_MS;
  }

  /** Whether a state that was taken is to be stored as a snapshot. Updates `growth`. */
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

  /** Stores the state after the record `seq`, which is on disk. */
  keep(entity: EntityRef, seq: number, state: string): void {
    const { journal, fingerprint } = this.#needs;
    if (fingerprint !== undefined) journal.keepSnapshot(entity, { seq, fingerprint, state });
  }

  /**
   * Called when the state could not be written. Throws anything that is not a fault of the guest. `isOwn`: no other
   * entity can have caused the fault.
   */
  failed(entity: EntityRef, fault: unknown, isOwn: boolean): void {
    // The process that holds the code was lost: the entity is opened again without a new snapshot.
    if (fault instanceof SvcError) return;
    if (!(fault instanceof GuestFault)) throw fault;
    if (fault.limit !== undefined) this.#metLimit(entity, fault);
    else if (isOwn || isLastOf(this.#unwritten, entity))
      this.#turnOff(entity, fault, 'The state could not be written as JSON');
  }

  /** Remembers an entity that closes once its snapshot is taken. `done` resolves after that. */
  closes(done: Promise<void>): void {
    this.#closing.add(done);
    void done.finally(() => this.#closing.delete(done));
  }

  /** Called when the engine closes: from now on, snapshots are taken for CLOSING_MS only. */
  stop(): void {
    this.#closingSinceMs = this.#needs.clock.monotonicMs();
  }

  /** Resolves when no entity waits for its snapshot before it closes. */
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

/** Counts a fault of a component. Returns whether FAULTS_MAX in a row are reached. */
function isLastOf(faults: Map<string, number>, { component }: EntityRef): boolean {
  const count = (faults.get(component) ?? 0) + 1;
  faults.set(component, count);
  return count >= FAULTS_MAX;
}

/** The key is unique, because neither a component nor an id contains a line feed. */
function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

/** Returns the memory that a state takes, in bytes. */
export function stateBytes(state: string): number {
  return state.length * BYTES_PER_UNIT;
}
