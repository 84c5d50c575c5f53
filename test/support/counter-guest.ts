// CounterGuest: a guest in this process whose entities add numbers up, for tests of the engine. It
// faults on demand, loses whole instances as a real one does, and notes every call that breaks the
// rules of `needs/guest.ts`.
import type { ModuleDescriptor } from '@svc/contract';
import type { Guest, GuestEntity } from '../../model/guest.ts';
import type { Awaitable, CallContext, Effect, Refusal, Reply, Spent } from '../../model/call.ts';
import { DELETE_ENTITY, NO_ACTIONS, refusal } from '../../model/call.ts';
import type { EntityRef, StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';

export const COUNTER = 'Counter';
/** Fuel that a command uses, and the fold of each of its events. */
export const COMMAND_FUEL = 100;
export const FOLD_FUEL = 7;
export const COUNTER_EVENT = 'CounterEvent';

const COMMANDS = [
  'add',
  'tell',
  'remove-and-tell',
  'take',
  'noop',
  'remove',
  'fault',
  'poison',
  'unreadable',
  'effect',
];
const QUERIES = ['total', 'history', 'context', 'faultyQuery', 'answer'];

export interface CounterOptions {
  /** Every call answers a promise, and waits for `gate`. */
  readonly later?: boolean;
  /** Entities that share an instance, and are lost with it. */
  readonly perInstance?: number;
  readonly fingerprint?: string | undefined;
}

interface Instance {
  lost: boolean;
  size: number;
}

export class CounterGuest implements Guest {
  readonly fingerprint: string | undefined;
  readonly descriptor: ModuleDescriptor;
  readonly entities: Guest['entities'];
  readonly endpoints: Guest['endpoints'] = {
    handle: () => refusal('NOT_FOUND', 'a counter has no endpoints'),
  };
  /** With `later`: what calls wait for. */
  gate: Promise<void> = Promise.resolve();
  /** Calls that the engine should not have made. */
  readonly violations: string[] = [];
  /** Sizes of the batches that were folded, in order. */
  readonly folds: number[] = [];
  /** Wire names of the calls that reached the guest. */
  readonly calls: string[] = [];
  openCount = 0;
  /** What replies that are computed after the events are; undefined: the total. */
  laterReply: ((context: CallContext) => Reply | Refusal | undefined) | undefined = undefined;
  /** Ids of the entities that were opened, in order. */
  readonly opened: string[] = [];
  /** Runs in the middle of the next fold, once. */
  duringFold: (() => void) | undefined = undefined;
  /** More events in one fold are a fault. */
  foldEventsMax = Infinity;
  /** Runs in each fold. */
  onFold: ((events: number) => void) | undefined = undefined;
  /** Entities whose poison does nothing. */
  readonly cured = new Set<string>();
  /** What the opening of an entity fails with. */
  openFailure: Error | undefined = undefined;
  /** What becomes of the text of a snapshot; undefined is a fault. */
  written: (state: string) => string | undefined = (state) => state;
  /** A snapshot leads to a fault when it is read, or when events are folded into it. */
  misleading: 'read' | 'folded' | undefined = undefined;
  #instance: Instance = { lost: false, size: 0 };

  constructor({ later = false, perInstance = 1, fingerprint }: CounterOptions = {}) {
    this.fingerprint = fingerprint;
    const number = { type: 'number', format: 'double' } as const;
    const handlers = (names: readonly string[]) =>
      names.map((name) => ({ name, input: number, reply: number }));
    this.descriptor = {
      protocol: '0.1.0',
      sdk: { name: 'counter', version: '1' },
      types: {},
      entities: [
        {
          component: COUNTER,
          state: { manifest: 'CounterState', schema: number },
          event: { manifest: COUNTER_EVENT, schema: number },
          commands: handlers(COMMANDS),
          queries: handlers(QUERIES),
        },
      ],
      endpoints: [],
    };
    this.entities = {
      open: (entity, snapshot, alone) => {
        if (this.openFailure !== undefined) throw this.openFailure;
        this.opened.push(alone ? `${entity.id} alone` : entity.id);
        let instance: Instance = { lost: false, size: 0 };
        if (!alone) {
          if (this.#instance.lost || this.#instance.size >= perInstance) this.#instance = instance;
          instance = this.#instance;
        }
        if (snapshot !== undefined && this.misleading === 'read') {
          instance.lost = true;
          throw new GuestFault('trap', 'the snapshot does not decode');
        }
        instance.size++;
        this.openCount++;
        const opened = new Counter(this, instance, entity, snapshot);
        return later ? this.gate.then(() => new LaterCounter(this, opened)) : opened;
      },
    };
  }

  close(): void {}

  violated(what: string): never {
    this.violations.push(what);
    throw new Error(what);
  }
}

class Counter implements GuestEntity {
  readonly #guest: CounterGuest;
  readonly #instance: Instance;
  readonly #entity: EntityRef;
  #numbers: number[] = [];
  #total = 0;
  #closed = false;
  readonly #isMisled: boolean;

  constructor(
    guest: CounterGuest,
    instance: Instance,
    entity: EntityRef,
    snapshot: string | undefined,
  ) {
    this.#guest = guest;
    this.#instance = instance;
    this.#entity = entity;
    this.#isMisled = snapshot !== undefined && guest.misleading === 'folded';
    for (const number of JSON.parse(snapshot ?? '[]') as number[]) {
      this.#numbers.push(number);
      this.#total += number;
    }
  }

  get lost(): boolean {
    return this.#instance.lost;
  }

  apply(events: readonly StoredEvent[], spent: Spent | undefined): string | undefined {
    this.#check('apply');
    if (spent !== undefined) spent.fuel += FOLD_FUEL * events.length;
    this.#guest.folds.push(events.length);
    this.#guest.onFold?.(events.length);
    if (events.length > this.#guest.foldEventsMax) this.#fault('a large fold');
    if (this.#isMisled) this.#fault('the snapshot');
    for (const event of events) {
      const { type, by } = JSON.parse(event.json) as { type: string; by: number };
      if (type === 'Poison' && this.#guest.cured.has(this.#entity.id)) continue;
      if (type === 'Poison') this.#fault('poison');
      if (type !== 'Added') return `unknown type ${type}`;
      this.#numbers.push(by);
      this.#total += by;
    }
    const hook = this.#guest.duringFold;
    this.#guest.duringFold = undefined;
    hook?.();
    return undefined;
  }

  command(context: CallContext, name: string, input: string): Effect | Refusal {
    this.#check(name);
    if (context.spent !== undefined) context.spent.fuel += COMMAND_FUEL;
    const value = JSON.parse(input) as number;
    switch (name) {
      case 'add':
        return effect([added(value)], this.#total + value);
      case 'take':
        return value > this.#total
          ? refusal('CONFLICT', `only ${this.#total} are left`)
          : effect([added(-value)], this.#total - value);
      case 'remove-and-tell':
        return { ...effect([added(value)], 0), actions: DELETE_ENTITY, reply: undefined };
      case 'tell':
        return { ...effect(value === 0 ? [] : [added(value)], 0), reply: undefined };
      case 'noop':
        return effect([], this.#total);
      case 'remove':
        return {
          ...effect(value === 0 ? [] : [added(value)], this.#total),
          actions: DELETE_ENTITY,
        };
      case 'fault':
        return this.#fault('fault');
      case 'poison':
        return effect([added(1), POISON], 0);
      case 'unreadable':
        return effect([added(1), UNREADABLE], 0);
      case 'effect':
        return { ...effect([], 0), ...(value as unknown as Partial<Effect>) };
      default:
        return this.#guest.violated(`command ${name} at ${context.nowMs}`);
    }
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    this.#check(name);
    switch (name) {
      case 'total':
        return reply(this.#total);
      case 'history':
        return reply(this.#numbers);
      case 'context':
        return reply({
          nowMs: context.nowMs,
          seed: String(context.seed),
          metadata: context.metadata,
        });
      case 'faultyQuery':
        return this.#fault('query');
      case 'answer':
        return JSON.parse(input) as Reply | Refusal;
      default:
        return this.#guest.violated(`query ${name}`);
    }
  }

  reply(context: CallContext, name: string): Reply | Refusal {
    this.#check(`reply to ${name}`);
    return this.#guest.laterReply?.(context) ?? reply(this.#total);
  }

  snapshot(): string {
    this.#check('snapshot');
    return this.#guest.written(JSON.stringify(this.#numbers)) ?? this.#fault('writing');
  }

  close(): void {
    if (this.#closed) this.#guest.violated(`entity ${this.#entity.id} is closed twice`);
    this.#closed = true;
    this.#guest.openCount--;
  }

  #check(name: string): void {
    this.#guest.calls.push(name);
    if (this.#closed) this.#guest.violated(`${name} on a closed entity ${this.#entity.id}`);
    if (this.lost) this.#guest.violated(`${name} on a lost entity ${this.#entity.id}`);
  }

  #fault(what: string): never {
    this.#instance.lost = true;
    throw new GuestFault('trap', `${what} of entity ${this.#entity.id}`);
  }
}

/** The same, some time later. A call that overlaps another one is a violation. */
class LaterCounter implements GuestEntity {
  readonly #guest: CounterGuest;
  readonly #counter: Counter;
  #busy = false;

  constructor(guest: CounterGuest, counter: Counter) {
    this.#guest = guest;
    this.#counter = counter;
  }

  get lost(): boolean {
    return this.#counter.lost;
  }

  apply(events: readonly StoredEvent[], spent: Spent | undefined): Awaitable<string | undefined> {
    return this.#later(() => this.#counter.apply(events, spent));
  }

  command(context: CallContext, name: string, input: string): Awaitable<Effect | Refusal> {
    return this.#later(() => this.#counter.command(context, name, input));
  }

  query(context: CallContext, name: string, input: string): Awaitable<Reply | Refusal> {
    return this.#later(() => this.#counter.query(context, name, input));
  }

  reply(context: CallContext, name: string): Awaitable<Reply | Refusal> {
    return this.#later(() => this.#counter.reply(context, name));
  }

  snapshot(): Awaitable<string> {
    return this.#later(() => this.#counter.snapshot());
  }

  close(): void {
    if (this.#busy) this.#guest.violated('closed during a call');
    this.#counter.close();
  }

  async #later<T>(call: () => T): Promise<T> {
    if (this.#busy) this.#guest.violated('a call overlaps another one');
    this.#busy = true;
    try {
      await this.#guest.gate;
      // Another entity's fault took the instance, and this call with it.
      if (this.lost) throw new GuestFault('trap', 'the instance is lost');
      return call();
    } finally {
      this.#busy = false;
    }
  }
}

export function added(by: number): StoredEvent {
  return stored(JSON.stringify({ type: 'Added', by }));
}

/** To fold it is a fault. */
export const POISON = stored('{"type":"Poison"}');
/** It cannot be decoded. */
export const UNREADABLE = stored('{"type":"Unknown"}');

function stored(json: string): StoredEvent {
  return { manifest: COUNTER_EVENT, json };
}

function effect(events: readonly StoredEvent[], value: unknown): Effect {
  return { kind: 'effect', events, actions: NO_ACTIONS, reply: JSON.stringify(value) };
}

function reply(value: unknown): Reply {
  return { kind: 'reply', json: JSON.stringify(value) };
}
