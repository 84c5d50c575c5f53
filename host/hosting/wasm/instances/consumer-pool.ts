// ConsumerPool serves the events for a module's consumers, in instances of their own, so that consumers take none from
// requests. Each consumer has its part of the instances, so that one that hangs takes none from the others. The first instance of
// a consumer is made with its first event.
import assert from 'node:assert/strict';
import type { GuestConsumers, HostCalls } from '@svc/model/guest';
import type { Awaitable, CallContext, Refusal } from '@svc/model/call';
import type { Verdict } from '@svc/model/consumer';
import type { EntityEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { CONSUMER_HANDLE, type Consumption } from './consumer-binding.ts';
import { HandlerPool, type PoolNeeds } from './handler-pool.ts';

type Pool = HandlerPool<Consumption, Verdict | Refusal>;

export class ConsumerPool implements GuestConsumers {
  readonly #needs: PoolNeeds;
  readonly #consumers: ReadonlySet<string>;
  /** Indexed by the name of the consumer. */
  readonly #pools = new Map<string, Pool>();
  #closed = false;

  constructor(needs: PoolNeeds, consumers: readonly string[]) {
    const { limits } = needs;
    const part = Math.floor(limits.endpointInstancesMax / consumers.length);
    this.#needs = { ...needs, limits: { ...limits, endpointInstancesMax: Math.max(1, part) } };
    this.#consumers = new Set(consumers);
  }

  handle(
    context: CallContext,
    consumer: string,
    event: EntityEvent,
    calls: HostCalls,
  ): Awaitable<Verdict | Refusal> {
    if (this.#closed) throw new GuestFault('trap', 'The module was closed.');
    assert(
      this.#consumers.has(consumer),
      'an event for a consumer that the module does not declare',
    );
    const input = { consumer, event };
    const source = `consumer ${consumer}`;
    return this.#poolOf(consumer).handle({ context, input, calls, handler: 0, source });
  }

  #poolOf(consumer: string): Pool {
    let pool = this.#pools.get(consumer);
    if (pool === undefined) {
      pool = new HandlerPool(this.#needs, CONSUMER_HANDLE, 1);
      this.#pools.set(consumer, pool);
    }
    return pool;
  }

  /** Instances that currently exist. */
  get instances(): number {
    return this.#pools.values().reduce((sum, { instances }) => sum + instances, 0);
  }

  /** Fails the calls that are being served or wait for an instance. */
  close(): void {
    this.#closed = true;
    for (const pool of this.#pools.values()) pool.close();
  }
}
