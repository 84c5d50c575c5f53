// EntityInstances: the live entities of a module and the instances that hold them, many entities in
// each. A fault loses every entity of its instance and none of another.
//
// Invariants: an instance is kept for as long as one of its entities is open, and takes new ones in
// the place of those that were closed: live instances are scarce, and one that was kept alive by its
// last entity would be wasted.
import assert from 'node:assert/strict';
import type { GuestEntities, GuestEntity } from '../../engine/needs/guest.ts';
import type { CallContext, Effect, Refusal, Reply } from '../../model/call.ts';
import type { EntityRef, StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import type { AdmittedModule } from './admission.ts';
import {
  applyEvents,
  command,
  constructEntity,
  destroyEntity,
  query,
  takeSnapshot,
} from './entity-binding.ts';
import type { GuestLog } from './guest-log.ts';
import { ModuleInstance } from './module-instance.ts';
import type { WasmLimits } from './wasm-limits.ts';

const PAGE_BYTES = 64 * 1024;

/** An instance that entities share. It is let go of with its fault: the idle ones would keep its memory. */
interface Shared {
  /** Undefined once it is lost. */
  instance: ModuleInstance | undefined;
  openEntities: number;
}

/** After every call of a shared instance. */
function letGoIfLost(shared: Shared): void {
  if (shared.instance?.lost === true) shared.instance = undefined;
}

export class EntityInstances implements GuestEntities {
  readonly #module: AdmittedModule;
  readonly #limits: WasmLimits;
  readonly #log: GuestLog;
  /** Component → what the log calls it. */
  readonly #sources = new Map<string, string>();
  readonly #shared = new Set<Shared>();
  /** Where the last entity was opened. */
  #current: Shared | undefined;
  readonly #open = new Set<WasmEntity>();
  /** An instance whose memory has grown beyond this takes no more entities. */
  readonly #crowdedBytes: number;
  #closed = false;

  constructor(module: AdmittedModule, limits: WasmLimits, log: GuestLog) {
    this.#module = module;
    this.#limits = limits;
    this.#log = log;
    const { initialMemoryPages, maximumMemoryPages } = module.sizes;
    this.#crowdedBytes = Math.max(initialMemoryPages, maximumMemoryPages / 2) * PAGE_BYTES;
    for (const { component } of module.descriptor.entities)
      this.#sources.set(component, `component ${component}`);
  }

  open(entity: EntityRef, snapshot: string | undefined): GuestEntity {
    if (this.#closed) throw new GuestFault('trap', 'The module was closed.');
    const source = this.#sources.get(entity.component);
    assert(source !== undefined, 'an entity of a component that the module does not declare');
    const { shared, instance } = this.#withRoom();
    let rep: number;
    try {
      rep = constructEntity(instance, entity, snapshot, source);
    } finally {
      letGoIfLost(shared);
    }
    shared.openEntities++;
    const opened = new WasmEntity(shared, rep, source, (closed) => {
      this.#open.delete(closed);
      shared.openEntities--;
    });
    this.#open.add(opened);
    return opened;
  }

  /** Loses every entity. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    this.#shared.clear();
    for (const entity of this.#open) entity.lose();
    this.#open.clear();
  }

  /** The last instance if it has room, or any other that has, or a new one. */
  #withRoom(): { readonly shared: Shared; readonly instance: ModuleInstance } {
    const current = this.#current?.instance;
    if (this.#current !== undefined && current !== undefined && this.#hasRoom(this.#current))
      return { shared: this.#current, instance: current };
    for (const shared of this.#shared)
      if (shared.instance !== undefined && this.#hasRoom(shared)) {
        this.#current = shared;
        return { shared, instance: shared.instance };
      } else if (shared.openEntities === 0 || shared.instance === undefined)
        this.#shared.delete(shared);
    const instance = new ModuleInstance(this.#module, this.#limits, this.#log, false);
    const shared: Shared = { instance, openEntities: 0 };
    this.#current = shared;
    this.#shared.add(shared);
    return { shared, instance };
  }

  /**
   * Until it has its number of entities, or half of the memory it may have is taken: entities grow,
   * and one that finds no memory takes all the others with it.
   */
  #hasRoom({ instance, openEntities }: Shared): boolean {
    return (
      instance !== undefined &&
      openEntities < this.#limits.entitiesPerInstance &&
      instance.memory.bytes.length <= this.#crowdedBytes
    );
  }
}

class WasmEntity implements GuestEntity {
  readonly #shared: Shared;
  readonly #rep: number;
  readonly #source: string;
  readonly #onClose: (entity: WasmEntity) => void;
  #closed = false;
  #lost = false;

  constructor(shared: Shared, rep: number, source: string, onClose: (entity: WasmEntity) => void) {
    this.#shared = shared;
    this.#rep = rep;
    this.#source = source;
    this.#onClose = onClose;
  }

  get lost(): boolean {
    return this.#lost || this.#shared.instance === undefined;
  }

  apply(events: readonly StoredEvent[]): string | undefined {
    const instance = this.#live();
    try {
      return applyEvents(instance, this.#rep, events, this.#source);
    } finally {
      letGoIfLost(this.#shared);
    }
  }

  command(context: CallContext, name: string, input: string): Effect | Refusal {
    const instance = this.#live();
    try {
      return command(instance, this.#rep, context, name, input, this.#source);
    } finally {
      letGoIfLost(this.#shared);
    }
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    const instance = this.#live();
    try {
      return query(instance, this.#rep, context, name, input, this.#source);
    } finally {
      letGoIfLost(this.#shared);
    }
  }

  snapshot(): string {
    const instance = this.#live();
    try {
      return takeSnapshot(instance, this.#rep, this.#source);
    } finally {
      letGoIfLost(this.#shared);
    }
  }

  /** A fault of the destructor is not the caller's: it only loses the instance. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose(this);
    const { instance } = this.#shared;
    if (this.#lost || instance === undefined) return;
    try {
      destroyEntity(instance, this.#rep, this.#source);
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
    } finally {
      letGoIfLost(this.#shared);
    }
  }

  lose(): void {
    this.#lost = true;
  }

  #live(): ModuleInstance {
    const { instance } = this.#shared;
    if (this.#closed || this.#lost || instance === undefined)
      throw new GuestFault('trap', 'The entity was lost with its instance; open it anew.');
    return instance;
  }
}
