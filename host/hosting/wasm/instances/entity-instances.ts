// EntityInstances: the live entities of a module and the instances that hold them, many entities in each. A
// fault loses every entity of its instance and none of another. The entity that caused it is opened in an
// instance of its own the next time.
//
// Invariants: an instance is kept while one of its entities is open, unless it faults or memory reaches its limit.
// New entities take the slots of closed ones: live instances are scarce, and keeping one for its last entity alone
// would waste it. An instance that was created for one entity takes no other. An instance that is being emptied
// because memory is short takes none any more. Both kinds are released with their last entity.
import assert from 'node:assert/strict';
import type { GuestEntities, GuestEntity } from '@svc/model/guest';
import type { CallContext, Effect, Refusal, Reply, Spent } from '@svc/model/call';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { AdmittedModule } from '../admission/admission.ts';
import {
  applyEvents,
  command,
  constructEntity,
  type EntityHandle,
  destroyEntity,
  query,
  takeSnapshot,
} from './entity-binding.ts';
import type { GuestLog } from '@svc/model/guest-log';
import type { InstanceMemory, MemoryShare } from '../binding/instance-memory.ts';
import { ModuleInstance, PAGE_BYTES } from './module-instance.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Maximum number of recently faulted entities that are opened alone, and of instances that hold one entity alone. */
const SUSPECTS_MAX = 100;

/** An instance that entities share. A fault releases it at once, so that it does not go on holding its memory. */
interface Shared {
  /** Undefined after the instance is lost. */
  instance: ModuleInstance | undefined;
  /** Its entities in the order in which they were opened. */
  readonly open: Set<WasmEntity>;
  /** True if it holds one entity alone, which has faulted or was opened `alone`: its faults affect no other. */
  readonly isSuspects: boolean;
  /** Logical time of the last use of any of its entities. */
  usedAt: number;
}

export class EntityInstances implements GuestEntities {
  readonly #module: AdmittedModule;
  readonly #limits: WasmLimits;
  readonly #memory: InstanceMemory;
  readonly #log: GuestLog;
  /** Component → source in the log. */
  readonly #sources = new Map<string, string>();
  readonly #shared = new Set<Shared>();
  /** The instance in which the last entity was opened. */
  #current: Shared | undefined;
  /** The instance whose entities are being closed, to release it. */
  #emptied: Shared | undefined;
  /** Names (`nameOf`) of entities that have faulted, the latest at the end. */
  readonly #suspects = new Set<string>();
  /** An instance whose memory has grown beyond this takes no more entities. */
  readonly #crowdedBytes: number;
  readonly #owner: Owner;
  #closed = false;

  constructor(module: AdmittedModule, limits: WasmLimits, memory: InstanceMemory, log: GuestLog) {
    this.#module = module;
    this.#limits = limits;
    this.#memory = memory;
    memory.addHolder((spared) => this.#letGoOfOldest(spared, false));
    this.#log = log;
    let uses = 0;
    const fromState = new Set(
      module.descriptor.entities
        .filter(({ repliesFromState }) => repliesFromState === true)
        .map(({ component }) => component),
    );
    this.#owner = {
      log,
      repliesFromState: ({ component }) => fromState.has(component),
      using(shared) {
        shared.usedAt = ++uses;
      },
      faulted: (shared, entity) => this.#faulted(shared, entity),
      closed: (shared, entity) => {
        shared.open.delete(entity);
        if (shared.open.size === 0 && (shared.isSuspects || shared === this.#emptied))
          this.#letGo(shared);
      },
    };
    const { initialMemoryPages, maximumMemoryPages } = module.sizes;
    this.#crowdedBytes = Math.max(initialMemoryPages, maximumMemoryPages / 2) * PAGE_BYTES;
    for (const { component } of module.descriptor.entities)
      this.#sources.set(component, `component ${component}`);
  }

  open(entity: EntityRef, snapshot: string | undefined, alone = false): GuestEntity {
    if (this.#closed) throw new GuestFault('trap', 'The module was closed.');
    const source = this.#sources.get(entity.component);
    assert(source !== undefined, 'an entity of a component that the module does not declare');
    const isSuspect = this.#suspects.size > 0 && this.#suspects.has(nameOf(entity));
    const { shared, instance } = alone || isSuspect ? this.#alone() : this.#withRoom();
    this.#owner.using(shared);
    let handle: EntityHandle;
    try {
      handle = constructEntity(instance, entity, snapshot, source);
    } catch (error) {
      this.#faulted(shared, entity);
      throw error;
    }
    const opened = new WasmEntity(this.#owner, shared, entity, handle);
    shared.open.add(opened);
    return opened;
  }

  /** Number of instances. */
  get instances(): number {
    return this.#shared.size;
  }

  /**
   * Returns entities to close while memory is short, at most `max`: those of the least recently used instance, which is
   * released once all of them are closed. Returns none while there is enough memory.
   */
  toClose(max: number): readonly EntityRef[] {
    const refs: EntityRef[] = [];
    for (const { ref } of this.#toEmpty()?.open ?? []) if (refs.push(ref) === max) break;
    return refs;
  }

  /** Closes all instances and loses every entity. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const shared of this.#shared) this.#letGo(shared);
  }

  /** Releases the entity's instance and marks the entity to be opened alone, if the call lost the instance. */
  #faulted(shared: Shared, entity: EntityRef): void {
    if (shared.instance?.lost !== true) return;
    this.#letGo(shared);
    const name = nameOf(entity);
    this.#suspects.delete(name);
    this.#suspects.add(name);
    if (this.#suspects.size > SUSPECTS_MAX)
      for (const oldest of this.#suspects) {
        this.#suspects.delete(oldest);
        break;
      }
  }

  /** Releases an instance; its entities are lost. */
  #letGo(shared: Shared): void {
    shared.instance?.letGo();
    shared.instance = undefined;
    this.#shared.delete(shared);
    if (this.#current === shared) this.#current = undefined;
  }

  /**
   * Releases the least recently used instance; returns false if there is none. Its entities are reopened when they
   * are called.
   */
  #letGoOfOldest(spared: MemoryShare | undefined, suspectsOnly: boolean): boolean {
    const oldest = this.#oldest(spared, suspectsOnly);
    if (oldest !== undefined) this.#letGo(oldest);
    return oldest !== undefined;
  }

  /**
   * Returns the instance to empty, one after the other, while memory is short; undefined if there is none. The instance
   * that takes new entities is never emptied.
   */
  #toEmpty(): Shared | undefined {
    if (this.#memory.isShort) {
      if (this.#emptied?.instance !== undefined) return this.#emptied;
      const oldest = this.#oldest(this.#current?.instance?.share, false);
      if (oldest !== undefined && oldest.open.size === 0) this.#letGo(oldest);
      this.#emptied = oldest?.instance === undefined ? undefined : oldest;
    } else this.#emptied = undefined;
    return this.#emptied;
  }

  #oldest(spared: MemoryShare | undefined, suspectsOnly: boolean): Shared | undefined {
    let oldest: Shared | undefined;
    for (const shared of this.#shared)
      if (
        shared.instance?.share !== spared &&
        (shared.isSuspects || !suspectsOnly) &&
        (oldest === undefined || shared.usedAt < oldest.usedAt)
      )
        oldest = shared;
    return oldest;
  }

  /** Returns the instance of the last opened entity if it has a free slot, or any other that has one, or a new one. */
  #withRoom(): Opening {
    const current = this.#current?.instance;
    if (this.#current !== undefined && current !== undefined && this.#hasRoom(this.#current))
      return { shared: this.#current, instance: current };
    for (const shared of this.#shared)
      if (shared.instance !== undefined && this.#hasRoom(shared)) {
        this.#current = shared;
        return { shared, instance: shared.instance };
      } else if (shared.open.size === 0) this.#letGo(shared);
    const opening = this.#newInstance(false);
    this.#current = opening.shared;
    return opening;
  }

  #alone(): Opening {
    let open = 0;
    for (const { isSuspects } of this.#shared) if (isSuspects) open++;
    if (open >= SUSPECTS_MAX) this.#letGoOfOldest(undefined, true);
    return this.#newInstance(true);
  }

  #newInstance(isSuspects: boolean): Opening {
    const instance = new ModuleInstance(this.#module, this.#limits, this.#memory, this.#log, false);
    const open = new Set<WasmEntity>();
    const shared: Shared = { instance, open, isSuspects, usedAt: 0 };
    this.#shared.add(shared);
    return { shared, instance };
  }

  /**
   * Returns whether the instance has fewer than its maximum of entities, and has grown to at most half of its maximum
   * memory or has not grown: entities grow, and one that finds no memory loses all the others with it.
   */
  #hasRoom(shared: Shared): boolean {
    const { instance, open, isSuspects } = shared;
    return (
      instance !== undefined &&
      !isSuspects &&
      shared !== this.#emptied &&
      open.size < this.#limits.entitiesPerInstance &&
      instance.memory.bytes.length <= this.#crowdedBytes
    );
  }
}

interface Opening {
  readonly shared: Shared;
  readonly instance: ModuleInstance;
}

/** Joins the parts with NUL, which no name contains. */
function nameOf({ component, id }: EntityRef): string {
  return `${component}\0${id}`;
}

/** Events of an entity that its owner handles. */
interface Owner {
  readonly log: GuestLog;
  /** Returns whether a command's empty reply means that the reply has to be queried after the events are applied. */
  repliesFromState(entity: EntityRef): boolean;
  /** Called before each use of the instance. */
  using(shared: Shared): void;
  /** Called after a call threw. */
  faulted(shared: Shared, entity: EntityRef): void;
  closed(shared: Shared, entity: WasmEntity): void;
}

class WasmEntity implements GuestEntity {
  readonly #owner: Owner;
  readonly #shared: Shared;
  readonly ref: EntityRef;
  readonly #handle: EntityHandle;
  #closed = false;

  constructor(owner: Owner, shared: Shared, ref: EntityRef, handle: EntityHandle) {
    this.#owner = owner;
    this.#shared = shared;
    this.ref = ref;
    this.#handle = handle;
  }

  get lost(): boolean {
    return this.#shared.instance === undefined;
  }

  apply(events: readonly StoredEvent[], spent: Spent | undefined): string | undefined {
    const instance = this.#live();
    try {
      return applyEvents(instance, this.#handle, events, spent);
    } catch (error) {
      this.#owner.faulted(this.#shared, this.ref);
      throw error;
    }
  }

  command(context: CallContext, name: string, input: string): Effect | Refusal {
    const instance = this.#live();
    try {
      const decision = command(instance, this.#handle, context, name, input);
      if (decision.kind === 'refusal' || decision.reply !== '') return decision;
      return this.#owner.repliesFromState(this.ref) ? { ...decision, reply: undefined } : decision;
    } catch (error) {
      this.#owner.faulted(this.#shared, this.ref);
      throw error;
    }
  }

  reply(context: CallContext, name: string): Reply | Refusal {
    try {
      return this.query(context, name, 'null');
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
      throw error.explained(`The reply of command '${name}' failed: ${error.message}`);
    }
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    const instance = this.#live();
    try {
      return query(instance, this.#handle, context, name, input);
    } catch (error) {
      this.#owner.faulted(this.#shared, this.ref);
      throw error;
    }
  }

  snapshot(): string {
    const instance = this.#live();
    try {
      return takeSnapshot(instance, this.#handle);
    } catch (error) {
      this.#owner.faulted(this.#shared, this.ref);
      throw error;
    }
  }

  /**
   * Closes the entity. A fault of the destructor does not reach the caller: it only loses the instance, and is
   * logged.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { instance } = this.#shared;
    if (instance !== undefined) this.#destroy(instance);
    this.#owner.closed(this.#shared, this);
  }

  #destroy(instance: ModuleInstance): void {
    try {
      destroyEntity(instance, this.#handle);
    } catch (error) {
      this.#owner.faulted(this.#shared, this.ref);
      if (!(error instanceof GuestFault)) throw error;
      this.#owner.log({
        level: 'warn',
        message:
          `An entity could not be closed. ${error.message} ${error.guestMessage ?? ''}`.trim(),
        source: this.#handle.source,
      });
    }
  }

  #live(): ModuleInstance {
    const { instance } = this.#shared;
    if (this.#closed || instance === undefined)
      throw new GuestFault('trap', 'The entity was lost with its instance; open it anew.');
    this.#owner.using(this.#shared);
    return instance;
  }
}
