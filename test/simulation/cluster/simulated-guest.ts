// SimulatedGuest runs counters and registers in the process of a test. It answers at once, or after some time of its process, in which
// the lease of its node may end.
import type { ModuleDescriptor } from '@svc/contract';
import {
  type Awaitable,
  type CallContext,
  type Effect,
  NO_ACTIONS,
  type Refusal,
  refusal,
  type Reply,
} from '../../../model/call.ts';
import type { EntityRef, StoredEvent } from '../../../model/entity.ts';
import type { Guest, GuestEntity } from '../../../model/guest.ts';
import type { VirtualProcess } from '../../support/virtual/virtual-process.ts';

export const COUNTERS = 'Counter';
export const REGISTERS = 'Register';

const NUMBER = { type: 'number', format: 'double' } as const;
const handler = (name: string) => ({ name, input: NUMBER, reply: NUMBER });
const entity = (component: string, command: string) => ({
  component,
  state: { manifest: `${component}State`, schema: NUMBER },
  event: { manifest: `${component}Event`, schema: NUMBER },
  commands: [handler(command)],
  queries: [handler('get')],
});

export const DESCRIPTOR: ModuleDescriptor = {
  protocol: '0.1.0',
  sdk: { name: 'simulation', version: '1' },
  types: {},
  entities: [entity(COUNTERS, 'add'), entity(REGISTERS, 'set')],
  endpoints: [],
};

/** Times that calls take, in milliseconds, each with how many of a thousand calls take up to that long. The others take no time. */
const TIMES_MS: readonly (readonly [perThousand: number, ms: number])[] = [
  [8, 6_000],
  [20, 400],
  [500, 3],
];

export class SimulatedGuest implements Guest {
  readonly fingerprint: string;
  readonly descriptor = DESCRIPTOR;
  readonly entities: Guest['entities'];
  readonly endpoints: Guest['endpoints'] = {
    handle: () => refusal('NOT_FOUND', 'there are no endpoints'),
  };

  /** `process`: whose time calls take; undefined: they take none. */
  constructor(fingerprint: string, process: VirtualProcess | undefined) {
    this.fingerprint = fingerprint;
    this.entities = {
      open: (ref, snapshot) => new SimulatedEntity(ref, Number(snapshot ?? 0), process),
    };
  }

  close(): void {}
}

class SimulatedEntity implements GuestEntity {
  readonly lost = false;
  readonly #ref: EntityRef;
  readonly #process: VirtualProcess | undefined;
  #value: number;

  constructor(ref: EntityRef, value: number, process: VirtualProcess | undefined) {
    this.#ref = ref;
    this.#value = value;
    this.#process = process;
  }

  apply(events: readonly StoredEvent[]): Awaitable<undefined> {
    for (const { json } of events) this.#value = this.#after(Number(json));
    return undefined;
  }

  command(_context: CallContext, _name: string, input: string): Awaitable<Effect | Refusal> {
    const { component } = this.#ref;
    return this.#timed(() => ({
      kind: 'effect',
      events: [{ manifest: `${component}Event`, json: input }],
      actions: NO_ACTIONS,
      reply: String(this.#after(Number(input))),
    }));
  }

  query(): Awaitable<Reply | Refusal> {
    return this.#timed(() => ({ kind: 'reply', json: String(this.#value) }));
  }

  reply(): Reply {
    return { kind: 'reply', json: String(this.#value) };
  }

  snapshot(): string {
    return String(this.#value);
  }

  close(): void {}

  #after(input: number): number {
    return this.#ref.component === COUNTERS ? this.#value + input : input;
  }

  /** Returns what the call computes from the state at its beginning, once its time has passed. */
  #timed<T>(compute: () => T): Awaitable<T> {
    const process = this.#process;
    const result = compute();
    if (process === undefined) return result;
    const drawn = process.random.below(1_000);
    const time = TIMES_MS.find(([perThousand]) => drawn < perThousand);
    if (time === undefined) return result;
    return new Promise((resolve) => {
      process.timer(process.drawMs(time[1]), () => resolve(result));
    });
  }
}
