// ViewInstance folds a module's views, in an instance of its own that reaches no import.
//
// Invariants: after each call the instance is restored to its state after initialisation, so that no call sees what another
// left, and the same rows come out whatever the batches. After a fault the next call gets a new instance.
import assert from 'node:assert/strict';
import type { GuestViews } from '@svc/model/guest';
import type { Spent } from '@svc/model/call';
import type { EntityEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { KeyedEvent, RowState } from '@svc/model/view';
import type { PoolNeeds } from './handler-pool.ts';
import type { MemoryImage } from './memory-image.ts';
import { ModuleInstance } from './module-instance.ts';
import { type ViewCall, foldView, viewKeys } from './view-binding.ts';

export class ViewInstance implements GuestViews {
  readonly #needs: PoolNeeds;
  readonly #views: ReadonlySet<string>;
  /** Undefined before the first call, during a call, and after the instance was discarded. */
  #instance: ModuleInstance | undefined;
  /** The memory of a new instance: every start leads to the same state. */
  #image: MemoryImage | undefined;
  #closed = false;

  constructor(needs: PoolNeeds, views: readonly string[]) {
    this.#needs = needs;
    this.#views = new Set(views);
    needs.memory.addHolder(() => this.#letGo());
  }

  keys(view: string, events: readonly EntityEvent[], spent?: Spent): string[][] | string {
    return this.#call(view, spent, (instance, call) => viewKeys(instance, call, events));
  }

  fold(
    view: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
    spent?: Spent,
  ): RowState[] | string {
    return this.#call(view, spent, (instance, call) => foldView(instance, call, rows, events));
  }

  /** Whether there is an instance. */
  get isReady(): boolean {
    return this.#instance !== undefined;
  }

  close(): void {
    this.#closed = true;
    this.#letGo();
  }

  #call<Result>(
    view: string,
    spent: Spent | undefined,
    make: (instance: ModuleInstance, call: ViewCall) => Result,
  ): Result {
    if (this.#closed) throw new GuestFault('trap', 'The module was closed.');
    assert(this.#views.has(view), 'a view that the module does not declare');
    const { module, limits, memory, log } = this.#needs;
    const instance = this.#instance ?? new ModuleInstance(module, limits, memory, log, false);
    // Not to be discarded for its memory while it is called.
    this.#instance = undefined;
    this.#image ??= instance.memoryImage();
    try {
      return make(instance, { view, source: `view ${view}`, spent });
    } finally {
      if (instance.restore(this.#image)) this.#instance = instance;
    }
  }

  /** Discards the instance. Returns false if there is none, or if it is being called. */
  #letGo(): boolean {
    const instance = this.#instance;
    this.#instance = undefined;
    instance?.letGo();
    return instance !== undefined;
  }
}
