// SimulatedCallers use counters and registers of several nodes at the same time, each with one request at a time, and record every request
// with its outcome. They repeat some requests with their idempotency keys.
import { SvcError } from '../../../kit/svc-error.ts';
import { sliceOf } from '../../../model/slice.ts';
import type { Refusal, Reply } from '../../../model/call.ts';
import type { EntityRef } from '../../../model/entity.ts';
import type { CounterInput } from '../../support/linearizability/counter-model.ts';
import type { Attempt, Outcome } from '../../support/linearizability/history.ts';
import type { RegisterInput } from '../../support/linearizability/register-model.ts';
import type { Random } from '../../support/random.ts';
import type { VirtualNetwork } from '../../support/virtual/virtual-network.ts';
import { VirtualProcess } from '../../support/virtual/virtual-process.ts';
import { COUNTERS, REGISTERS } from './simulated-guest.ts';
import type { SimulatedNode } from './simulated-node.ts';

export interface CallersOptions {
  readonly process: VirtualProcess;
  readonly network: VirtualNetwork;
  readonly random: Random;
  /** Returns the nodes that can be called now. */
  readonly nodes: () => readonly SimulatedNode[];
  readonly callers: number;
  /** Longest pause between two requests of a caller, in milliseconds. */
  readonly pauseMs: number;
  /** Called after each answer of an entity. */
  readonly answered: (entity: EntityRef) => void;
}

interface Request {
  readonly entity: EntityRef;
  readonly input: CounterInput | RegisterInput;
  readonly key: string | undefined;
}

/** A caller gives up after this time, in milliseconds. */
const TIMEOUT_MS = 20_000;
/** Numbers that are added are below this. */
const AMOUNT_MAX = 1_000_000;
/** Codes of failures after which nothing was done. */
const NOT_DONE = new Set([
  'SVC_ENTITY_MOVED',
  'SVC_SHARD_UNAVAILABLE',
  'SVC_JOURNAL_UNAVAILABLE',
  'SVC_OVERLOADED',
  'SVC_STOPPING',
]);
/** Two entities share a slice, so that a group has several appends of one. */
const ENTITIES: readonly EntityRef[] = [
  { component: COUNTERS, id: 'c0' },
  { component: COUNTERS, id: idInSlice(sliceOf(COUNTERS, 'c0')) },
  { component: COUNTERS, id: 'c1' },
  { component: REGISTERS, id: 'r0' },
  { component: REGISTERS, id: 'r1' },
];

function idInSlice(slice: number): string {
  for (let number = 1; ; number++)
    if (sliceOf(COUNTERS, `s${number}`) === slice) return `s${number}`;
}

export class SimulatedCallers {
  readonly counters: Attempt<CounterInput, number>[] = [];
  readonly registers: Attempt<RegisterInput, number>[] = [];
  /** Failures that no request may have. */
  readonly complaints: string[] = [];
  /** Number of requests by their outcomes, and by the codes of their failures. */
  readonly counts = new Map<string, number>();
  readonly #options: CallersOptions;
  readonly #running: Promise<unknown>;
  #number = 0;
  #isOver = false;
  #last: Request | undefined;

  constructor(options: CallersOptions) {
    this.#options = options;
    const { process, callers } = options;
    this.#running = process.within(() =>
      Promise.all(Array.from({ length: callers }, () => this.#caller())),
    );
  }

  static get entities(): readonly EntityRef[] {
    return ENTITIES;
  }

  /** Lets the callers end after the requests that they have made. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Reads every entity at every node. Returns whether all answered. */
  async readAll(): Promise<boolean> {
    const { nodes } = this.#options;
    let isAnswered = true;
    for (const entity of ENTITIES)
      for (const node of nodes()) {
        const { kind } = await this.#ask(node, { entity, input: { kind: 'get' }, key: undefined });
        isAnswered &&= kind === 'answered';
      }
    return isAnswered;
  }

  async #caller(): Promise<void> {
    const { process, random, nodes, pauseMs } = this.#options;
    while (!this.#isOver) {
      await pause(process, process.drawMs(pauseMs));
      const all = nodes();
      if (all.length > 0) await this.#ask(random.pick(all), this.#next());
    }
  }

  #next(): Request {
    const { random } = this.#options;
    const last = this.#last;
    if (last?.key !== undefined && random.chance(25)) return last;
    const entity = random.pick(ENTITIES);
    const number = ++this.#number;
    if (random.chance(35)) return { entity, input: { kind: 'get' }, key: undefined };
    const input =
      entity.component === COUNTERS
        ? ({ kind: 'add', amount: 1 + random.below(AMOUNT_MAX) } as const)
        : ({ kind: 'set', value: number } as const);
    this.#last = { entity, input, key: random.chance(50) ? `k${number}` : undefined };
    return this.#last;
  }

  async #ask(node: SimulatedNode, { entity, input, key }: Request): Promise<Outcome<number>> {
    const { process, network, answered } = this.#options;
    const startMs = process.time.nowMs;
    const outcome = await new Promise<Outcome<number>>((resolve) => {
      const gone = (): void => resolve({ kind: 'unknown' });
      process.timer(TIMEOUT_MS, gone);
      node.process.onDeath(() => network.send(node.process, process, { arrivesMs: 0 }, gone));
      network.send(process, node.process, { arrivesMs: 0 }, () => {
        void this.#outcomeOf(node, { entity, input, key }).then((answer) => {
          if (answer.kind === 'answered') answered(entity);
          network.send(node.process, process, { arrivesMs: 0 }, () => resolve(answer));
        });
      });
    });
    this.#count(outcome.kind);
    const attempt = {
      entity: `${entity.component} ${entity.id}`,
      node: node.name,
      startMs,
      endMs: process.time.nowMs,
      outcome,
      ...(key === undefined ? {} : { key }),
    };
    if (entity.component === COUNTERS)
      this.counters.push({ ...attempt, input: input as CounterInput });
    else this.registers.push({ ...attempt, input: input as RegisterInput });
    return outcome;
  }

  async #outcomeOf(node: SimulatedNode, request: Request): Promise<Outcome<number>> {
    try {
      const { entity, input, key } = request;
      const value = 'amount' in input ? input.amount : 'value' in input ? input.value : 0;
      return this.#outcome(await node.call(entity, input.kind, value, key));
    } catch (error) {
      const code = error instanceof SvcError ? error.code : String(error);
      this.#count(code);
      if (NOT_DONE.has(code)) return { kind: 'not-done' };
      if (code !== 'SVC_CALL_UNCERTAIN')
        this.complaints.push(`a call failed with ${String(error)}`);
      return { kind: 'unknown' };
    }
  }

  #outcome(answer: Reply | Refusal): Outcome<number> {
    if (answer.kind === 'reply') return { kind: 'answered', output: Number(answer.json) };
    this.complaints.push(`a call was refused with ${answer.code}: ${answer.message}`);
    return { kind: 'unknown' };
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** Waits in virtual time. */
export function pause(process: VirtualProcess, ms: number): Promise<void> {
  return new Promise((resolve) => {
    process.timer(ms, resolve);
  });
}
