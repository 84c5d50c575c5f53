// RowLocks are the locks of rows that are being changed, and of keys that are being inserted. Each belongs to one transaction; others wait
// for it, and any of them may get it next: those that wait for a row in PostgreSQL race for its new version.
//
// Invariant: a transaction waits for at most one lock. One that would wait for itself through others fails instead.
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type { VirtualProcess } from '../virtual/virtual-process.ts';

export interface LockOwner {
  /** The lock that it waits for. */
  waitsFor: string | undefined;
  readonly held: Set<string>;
}

interface Waiting {
  readonly owner: LockOwner;
  readonly granted: (isGranted: boolean) => void;
}

interface Lock {
  owner: LockOwner;
  readonly waiting: Waiting[];
}

/** A server looks for deadlocks after this time, in milliseconds. */
const DEADLOCK_MS = 1_000;

export class RowLocks {
  readonly #process: VirtualProcess;
  readonly #locks = new Map<string, Lock>();

  constructor(process: VirtualProcess) {
    this.#process = process;
  }

  isLocked(name: string): boolean {
    return this.#locks.has(name);
  }

  /** Returns whether the lock was free, or the owner's own, and takes it. */
  take(owner: LockOwner, name: string): boolean {
    const lock = this.#locks.get(name);
    if (lock !== undefined) return lock.owner === owner;
    this.#locks.set(name, { owner, waiting: [] });
    owner.held.add(name);
    return true;
  }

  /** Waits for a lock that another transaction has, and takes it. `timeoutMs`: 0 for no limit. Rejects with DatabaseFailure. */
  async wait(owner: LockOwner, name: string, timeoutMs: number): Promise<void> {
    const lock = this.#locks.get(name)!;
    const settled = Promise.withResolvers<boolean>();
    const waiting: Waiting = { owner, granted: settled.resolve };
    lock.waiting.push(waiting);
    owner.waitsFor = name;
    let sqlState = '55P03';
    const giveUp = (state: string): void => {
      sqlState = state;
      settled.resolve(false);
    };
    const cancels = [
      this.#process.timer(DEADLOCK_MS, () => this.#isDeadlock(owner) && giveUp('40P01')),
      ...(timeoutMs > 0 ? [this.#process.timer(timeoutMs, () => giveUp('55P03'))] : []),
    ];
    const isGranted = await settled.promise;
    for (const cancel of cancels) cancel();
    owner.waitsFor = undefined;
    if (isGranted) return;
    const at = lock.waiting.indexOf(waiting);
    if (at >= 0) lock.waiting.splice(at, 1);
    throw new DatabaseFailure(`the server answered ${sqlState}`, { outcome: 'not-done', sqlState });
  }

  /** Releases all locks of a transaction. */
  release(owner: LockOwner): void {
    for (const name of owner.held) {
      const lock = this.#locks.get(name)!;
      const [next] = lock.waiting.splice(this.#process.random.below(lock.waiting.length || 1), 1);
      if (next === undefined) this.#locks.delete(name);
      else {
        lock.owner = next.owner;
        next.owner.held.add(name);
        next.granted(true);
      }
    }
    owner.held.clear();
  }

  #isDeadlock(start: LockOwner): boolean {
    let owner = start;
    const seen = new Set<LockOwner>();
    for (;;) {
      const lock = owner.waitsFor === undefined ? undefined : this.#locks.get(owner.waitsFor);
      if (lock === undefined || seen.has(owner)) return false;
      seen.add(owner);
      owner = lock.owner;
      if (owner === start) return true;
    }
  }
}
