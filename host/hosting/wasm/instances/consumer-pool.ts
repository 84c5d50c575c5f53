// ConsumerPool serves the events for a module's consumers, in instances of its own, so that consumers take none from
// requests. The first is made with the first event.
import assert from 'node:assert/strict';
import type { GuestConsumers, HostCalls } from '../../../engine/needs/guest.ts';
import type { Awaitable, CallContext, Refusal } from '../../../model/call.ts';
import type { Verdict } from '../../../model/consumer.ts';
import type { EntityEvent } from '../../../model/entity.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { CONSUMER_HANDLE, type Consumption } from './consumer-binding.ts';
import { HandlerPool, type PoolNeeds } from './handler-pool.ts';

export class ConsumerPool implements GuestConsumers {
  readonly #needs: PoolNeeds;
  /** Name of a consumer → its index in the descriptor. */
  readonly #consumers: ReadonlyMap<string, number>;
  #pool: HandlerPool<Consumption, Verdict | Refusal> | undefined;
  #closed = false;

  constructor(needs: PoolNeeds, consumers: readonly string[]) {
    this.#needs = needs;
    this.#consumers = new Map(consumers.map((name, index) => [name, index]));
  }

  handle(
    context: CallContext,
    consumer: string,
    event: EntityEvent,
    calls: HostCalls,
  ): Awaitable<Verdict | Refusal> {
    if (this.#closed) throw new GuestFault('trap', 'The module was closed.');
    const handler = this.#consumers.get(consumer);
    assert(handler !== undefined, 'an event for a consumer that the module does not declare');
    this.#pool ??= new HandlerPool(this.#needs, CONSUMER_HANDLE, this.#consumers.size);
    const input = { consumer, event };
    return this.#pool.handle({ context, input, calls, handler, source: `consumer ${consumer}` });
  }

  /** Instances that currently exist. */
  get instances(): number {
    return this.#pool?.instances ?? 0;
  }

  /** Fails the calls that are being served or wait for an instance. */
  close(): void {
    this.#closed = true;
    this.#pool?.close();
  }
}
