// ClusterLoad lets callers use registers and counters of several nodes of a service at the same time, and records each of their requests
// with its outcome. It sends a bounded number of requests, and repeats none because of its outcome; a caller pauses after one that failed.
//
// Invariant: `registers` and `counters` are the history of all requests that have ended, by the clock of this process.
import { setTimeout as pause } from 'node:timers/promises';
import { checkHistory, type CheckLimits } from '../linearizability/check-history.ts';
import { COUNTER, type CounterInput } from '../linearizability/counter-model.ts';
import type { Attempt } from '../linearizability/history.ts';
import { REGISTER, type RegisterInput } from '../linearizability/register-model.ts';
import { Random } from '../random.ts';
import { DrawnOperations, SHARES, type Shares } from './drawn-operations.ts';
import { NodeClient, type Operation, type Result } from './node-client.ts';

export interface LoadOptions {
  /** The URLs of the nodes, by their names. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly seed: number;
  /** Requests after which the load ends by itself. */
  readonly requestsMax: number;
  readonly callers?: number;
  /** Registers, and counters, that are in use at the same time. */
  readonly entities?: number;
  readonly operationsPerEntity?: number;
  readonly shares?: Partial<Shares>;
  /** Time without an answer after which a caller gives up. */
  readonly timeoutMs?: number;
  /** Pause of a caller after a request that failed. */
  readonly pauseMs?: number;
  /** Pause of a caller after each other one, which bounds the rate. */
  readonly restMs?: number;
}

const DEFAULTS = {
  callers: 16,
  entities: 10,
  operationsPerEntity: 200,
  timeoutMs: 30_000,
  pauseMs: 20,
  restMs: 0,
};
/** Unexpected answers that are kept. */
const UNEXPECTED_MAX = 20;
/** Failures that are kept. */
const FAILURES_MAX = 20;

interface Waiting {
  readonly count: number;
  readonly resolve: () => void;
}

export class ClusterLoad {
  readonly registers: Attempt<RegisterInput, number>[] = [];
  readonly counters: Attempt<CounterInput, number>[] = [];
  /** Number of requests by their status, or the code of the error that broke the connection. */
  readonly counts = new Map<string, number>();
  /** The first requests that failed, with the texts of their answers. */
  readonly failures: string[] = [];
  /** Number of requests that were answered with 200. */
  answeredCount = 0;
  readonly #options: LoadOptions & typeof DEFAULTS;
  readonly #random: Random;
  readonly #operations: DrawnOperations;
  readonly #clients = new Map<string, NodeClient>();
  readonly #unexpected: string[] = [];
  readonly #ended: Promise<void>;
  #waiting: readonly Waiting[] = [];
  #sentCount = 0;
  #isEnding = false;

  /** Starts the load, which goes on until `requestsMax`, `end` or `close`. */
  constructor(options: LoadOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#random = new Random(options.seed);
    const { entities, operationsPerEntity, callers, shares } = this.#options;
    this.#operations = new DrawnOperations(this.#random, entities, operationsPerEntity, {
      ...SHARES,
      ...shares,
    });
    for (const [node, url] of Object.entries(options.nodes)) this.setUrl(node, url);
    const running = Array.from({ length: callers }, () => this.#caller());
    this.#ended = Promise.all(running).then(() => undefined);
  }

  /** Sets the URL of a node, such as one that was started again. Requests in flight at the former URL end. */
  setUrl(node: string, url: string): void {
    this.#clients.get(node)?.retire();
    this.#clients.set(node, new NodeClient(url));
  }

  /** Number of requests that have ended without an answer that can be relied on. */
  get failedCount(): number {
    let count = 0;
    for (const [label, requests] of this.counts)
      if (label !== '200' && label !== '422') count += requests;
    return count;
  }

  /** Resolves once so many further requests were answered. Rejects if the load ends before. */
  async answered(count: number): Promise<void> {
    const enough = Promise.withResolvers<void>();
    this.#waiting = [
      ...this.#waiting,
      { count: this.answeredCount + count, resolve: enough.resolve },
    ];
    const early = this.#ended.then(() => {
      throw new Error(`the load has ended: ${JSON.stringify(Object.fromEntries(this.counts))}`);
    });
    await Promise.race([enough.promise, early]);
  }

  /** Resolves once all requests were sent that the load may send. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Ends the load once its requests are answered, then reads each entity once, from any node. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#ended;
    const last = new Map<string, Operation>();
    for (const { entity } of this.registers)
      last.set(`register ${entity}`, { kind: 'register', entity, input: { kind: 'get' } });
    for (const { entity } of this.counters)
      last.set(`counter ${entity}`, { kind: 'counter', entity, input: { kind: 'get' } });
    for (const operation of last.values()) await this.#ask(operation);
    this.close();
  }

  /** Ends the load at once. Requests without an answer break. */
  close(): void {
    this.#isEnding = true;
    for (const client of this.#clients.values()) client.close();
  }

  /** Returns the time that a share of the requests needed at most, in milliseconds. `share`: 0 to 1. */
  waitedMs(share: number): number {
    const times = [...this.registers, ...this.counters]
      .map(({ startMs, endMs }) => endMs - startMs)
      .toSorted((a, b) => a - b);
    return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  }

  /** Returns what the history violates, and answers that no service should give. */
  problems(limits?: CheckLimits): readonly string[] {
    return [
      ...this.#unexpected,
      ...checkHistory(REGISTER, this.registers, limits).problems.map((text) => `register ${text}`),
      ...checkHistory(COUNTER, this.counters, limits).problems.map((text) => `counter ${text}`),
    ];
  }

  async #caller(): Promise<void> {
    const { requestsMax, pauseMs, restMs } = this.#options;
    while (!this.#isEnding && this.#sentCount < requestsMax) {
      this.#sentCount++;
      const operation = this.#operations.next();
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const { kind } = await this.#ask(operation);
      const isAnswered = kind === 'answered' || kind === 'reused';
      const waitMs = isAnswered ? restMs : Math.max(pauseMs, restMs);
      // oxlint-disable-next-line no-await-in-loop -- a caller waits after a failure
      if (waitMs > 0) await pause(waitMs);
    }
  }

  async #ask(operation: Operation): Promise<Result['outcome']> {
    const node = this.#random.pick([...this.#clients.keys()]);
    const result = await this.#clients.get(node)!.ask(operation, this.#options.timeoutMs);
    const { startMs, endMs, outcome, label, unexpected, failure = '' } = result;
    const { kind, entity, input, key } = operation;
    const times = { node, startMs, endMs, outcome, ...(key === undefined ? {} : { key }) };
    if (kind === 'register')
      this.registers.push({ entity, input: input as RegisterInput, ...times });
    else this.counters.push({ entity, input: input as CounterInput, ...times });
    this.counts.set(label, (this.counts.get(label) ?? 0) + 1);
    if (
      outcome.kind !== 'answered' &&
      outcome.kind !== 'reused' &&
      this.failures.length < FAILURES_MAX
    )
      this.failures.push(`${node} ${entity} ${Math.round(endMs - startMs)} ms ${label} ${failure}`);
    if (unexpected !== undefined && this.#unexpected.length < UNEXPECTED_MAX)
      this.#unexpected.push(unexpected);
    this.#operations.sent(operation, outcome.kind === 'answered');
    if (outcome.kind === 'answered') this.#answered();
    return outcome;
  }

  #answered(): void {
    this.answeredCount++;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ count }) => count > this.answeredCount);
    for (const { count, resolve } of waiting) if (count <= this.answeredCount) resolve();
  }
}
