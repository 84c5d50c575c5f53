// LeakyGuest: entities that keep a list of numbers in their state, with handlers that change it in
// place, as no handler may, and a fold that can be made to depend on more than state and event.
import type { ModuleDescriptor } from '@svc/contract';
import type { GuestEntities, GuestEntity } from '../../model/guest.ts';
import { DELETE_ENTITY, NO_ACTIONS } from '../../model/call.ts';
import type { Awaitable, Effect, Refusal, Reply } from '../../model/call.ts';
import { GuestFault } from '../../model/guest-fault.ts';

export const LEAKY = 'leaky';
const EVENT = 'leaky-event';
const COMMANDS = [
  'add',
  'add-and-sort',
  'leak-and-get',
  'leak',
  'leak-and-refuse',
  'spoil',
  'remove',
];
const QUERIES = ['get', 'sort'];

export class LeakyGuest {
  readonly descriptor: ModuleDescriptor;
  readonly entities: GuestEntities;
  /** Answers everything with a promise. */
  readonly isLater: boolean;
  /** What is added to every number that is folded. */
  drift = 0;
  openCount = 0;
  snapshotCount = 0;

  constructor(isLater = false) {
    this.isLater = isLater;
    const numbers = { type: 'array', items: { type: 'number', format: 'double' } } as const;
    const state = {
      type: 'object',
      properties: { numbers, ratio: { type: 'number', format: 'double' } },
      required: ['numbers', 'ratio'],
    } as const;
    const handlers = (names: readonly string[]) =>
      names.map((name) => ({ name, input: numbers.items, reply: numbers }));
    this.descriptor = {
      protocol: '0.1.0',
      sdk: { name: 'leaky', version: '1' },
      types: {},
      entities: [
        {
          component: LEAKY,
          state: { manifest: 'leaky-state', schema: state as never },
          event: { manifest: EVENT, schema: numbers.items },
          commands: handlers(COMMANDS),
          queries: handlers(QUERIES),
        },
      ],
      endpoints: [],
    };
    this.entities = {
      open: () => {
        this.openCount++;
        return this.answer(() => new LeakyEntity(this));
      },
    };
  }

  answer<T>(call: () => T): Awaitable<T> {
    return this.isLater ? Promise.resolve().then(call) : call();
  }
}

class LeakyEntity implements GuestEntity {
  readonly #guest: LeakyGuest;
  readonly #state: { numbers: number[]; ratio: number } = { numbers: [], ratio: 0 };
  lost = false;

  constructor(guest: LeakyGuest) {
    this.#guest = guest;
  }

  apply(events: readonly { readonly json: string }[]): Awaitable<string | undefined> {
    return this.#guest.answer(() => {
      for (const { json } of events)
        this.#state.numbers.push((JSON.parse(json) as { n: number }).n + this.#guest.drift);
      return undefined;
    });
  }

  command(_context: unknown, name: string, input: string): Awaitable<Effect | Refusal> {
    return this.#guest.answer(() => {
      const { numbers } = this.#state;
      const n = JSON.parse(input) as number;
      if (name.startsWith('leak')) numbers[0] = n;
      if (name === 'spoil') this.#state.ratio = NaN;
      if (name === 'leak-and-refuse') return { kind: 'refusal', code: 'CONFLICT', message: 'no' };
      const event = { manifest: EVENT, json: JSON.stringify({ type: 'added', n }) };
      const isLater = name === 'add-and-sort' || name === 'leak-and-get';
      const events = name === 'add' || name === 'leak' || isLater ? [event] : [];
      const reply = isLater ? undefined : 'null';
      const actions = name === 'remove' ? DELETE_ENTITY : NO_ACTIONS;
      return { kind: 'effect', events, actions, reply };
    });
  }

  query(_context: unknown, name: string): Awaitable<Reply | Refusal> {
    return this.#guest.answer(() => {
      const { numbers } = this.#state;
      if (name === 'sort') numbers.sort((a, b) => a - b);
      return { kind: 'reply', json: JSON.stringify(numbers) };
    });
  }

  reply(context: unknown, name: string): Awaitable<Reply | Refusal> {
    return this.query(context, name === 'add-and-sort' ? 'sort' : name);
  }

  snapshot(): Awaitable<string> {
    this.#guest.snapshotCount++;
    return this.#guest.answer(() => {
      if (!Number.isNaN(this.#state.ratio)) return JSON.stringify(this.#state);
      this.lost = true;
      throw new GuestFault('trap', 'The module trapped.', { guestMessage: 'abort: NaN' });
    });
  }

  close(): void {
    this.#guest.openCount--;
  }
}
