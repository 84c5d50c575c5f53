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

/** An instance that entities share. */
interface Shared {
  readonly instance: ModuleInstance;
  openEntities: number;
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
    const shared = this.#withRoom();
    const rep = constructEntity(shared.instance, entity, snapshot, source);
    shared.openEntities++;
    const opened = new WasmEntity(shared.instance, rep, source, (closed) => {
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
  #withRoom(): Shared {
    if (this.#current !== undefined && this.#hasRoom(this.#current)) return this.#current;
    this.#current = undefined;
    for (const shared of this.#shared)
      if (this.#hasRoom(shared)) this.#current ??= shared;
      else if (shared.openEntities === 0 || shared.instance.lost) this.#shared.delete(shared);
    if (this.#current === undefined) {
      const instance = new ModuleInstance(this.#module, this.#limits, this.#log, false);
      this.#current = { instance, openEntities: 0 };
      this.#shared.add(this.#current);
    }
    return this.#current;
  }

  /**
   * Until it has its number of entities, or half of the memory it may have is taken: entities grow,
   * and one that finds no memory takes all the others with it.
   */
  #hasRoom({ instance, openEntities }: Shared): boolean {
    return (
      !instance.lost &&
      openEntities < this.#limits.entitiesPerInstance &&
      instance.memory.bytes.length <= this.#crowdedBytes
    );
  }
}

class WasmEntity implements GuestEntity {
  readonly #instance: ModuleInstance;
  readonly #rep: number;
  readonly #source: string;
  readonly #onClose: (entity: WasmEntity) => void;
  #closed = false;
  #lost = false;

  constructor(
    instance: ModuleInstance,
    rep: number,
    source: string,
    onClose: (entity: WasmEntity) => void,
  ) {
    this.#instance = instance;
    this.#rep = rep;
    this.#source = source;
    this.#onClose = onClose;
  }

  get lost(): boolean {
    return this.#lost || this.#instance.lost;
  }

  apply(events: readonly StoredEvent[]): string | undefined {
    this.#expectLive();
    return applyEvents(this.#instance, this.#rep, events, this.#source);
  }

  command(context: CallContext, name: string, input: string): Effect | Refusal {
    this.#expectLive();
    return command(this.#instance, this.#rep, context, name, input, this.#source);
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    this.#expectLive();
    return query(this.#instance, this.#rep, context, name, input, this.#source);
  }

  snapshot(): string {
    this.#expectLive();
    return takeSnapshot(this.#instance, this.#rep, this.#source);
  }

  /** A fault of the destructor is not the caller's: it only loses the instance. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose(this);
    if (this.lost) return;
    try {
      destroyEntity(this.#instance, this.#rep, this.#source);
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
    }
  }

  lose(): void {
    this.#lost = true;
  }

  #expectLive(): void {
    if (this.#closed || this.lost)
      throw new GuestFault('trap', 'The entity was lost with its instance; open it anew.');
  }
}
