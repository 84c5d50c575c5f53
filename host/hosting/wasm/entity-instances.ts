// EntityInstances: the live entities of a module and the instances that hold them, many entities in
// each. A fault loses every entity of its instance and none of another.
//
// Invariants: only the newest instance takes new entities; an older one is kept for as long as one
// of its entities is open.
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

export class EntityInstances implements GuestEntities {
  readonly #module: AdmittedModule;
  readonly #limits: WasmLimits;
  readonly #log: GuestLog;
  /** Component → what the log calls it. */
  readonly #sources = new Map<string, string>();
  #newest: ModuleInstance | undefined;
  /** Entities that the newest instance was given, closed ones included: its memory has seen them. */
  #given = 0;
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
    const instance = this.#instanceWithRoom();
    const source = this.#sources.get(entity.component);
    assert(source !== undefined, 'an entity of a component that the module does not declare');
    const rep = constructEntity(instance, entity, snapshot, source);
    this.#given++;
    const opened = new WasmEntity(instance, rep, source, (closed) => this.#open.delete(closed));
    this.#open.add(opened);
    return opened;
  }

  /** Loses every entity. */
  close(): void {
    this.#closed = true;
    this.#newest = undefined;
    for (const entity of this.#open) entity.lose();
    this.#open.clear();
  }

  /**
   * The newest instance, until it has been given its number of entities, or half of the memory it
   * may have is taken: entities grow, and one that finds no memory takes all the others with it.
   */
  #instanceWithRoom(): ModuleInstance {
    const newest = this.#newest;
    if (
      newest !== undefined &&
      !newest.lost &&
      this.#given < this.#limits.entitiesPerInstance &&
      newest.memory.bytes.length <= this.#crowdedBytes
    )
      return newest;
    const instance = new ModuleInstance(this.#module, this.#limits, this.#log, false);
    this.#newest = instance;
    this.#given = 0;
    return instance;
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
