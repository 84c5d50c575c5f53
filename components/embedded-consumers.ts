// EmbeddedConsumers: implements the engine's consumers for TypeScript consumers. Events are handled concurrently, each
// by one call of its handler; the engine decides which events come when.
import assert from 'node:assert/strict';
import type { GuestConsumers, HostCalls } from '@svc/model/guest';
import type { CallContext, Refusal } from '@svc/model/call';
import type { Verdict as StoredVerdict } from '@svc/model/consumer';
import type { EntityEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { NameTable } from '@svc/model/name-table';
import { callingContext, type ReachableComponents } from './calling-context.ts';
import { CodecProblem } from './codec.ts';
import {
  type ConsumerContext,
  type ConsumerDefinition,
  type ConsumerSource,
  Verdict,
} from './consumer-definition.ts';
import { decodeEvent, eventLabel } from './event-source.ts';
import { Refused, refusalOf } from './result.ts';
import { RunningHandlers } from './running-handlers.ts';

export class EmbeddedConsumers implements GuestConsumers {
  readonly #consumers: NameTable<ConsumerDefinition>;
  readonly #reachable: ReachableComponents;
  readonly #running = new RunningHandlers();

  constructor(consumers: readonly ConsumerDefinition[], reachable: ReachableComponents) {
    this.#consumers = new NameTable(consumers.map((one) => [one.id, one] as const));
    this.#reachable = reachable;
  }

  handle(
    context: CallContext,
    id: string,
    event: EntityEvent,
    calls: HostCalls,
  ): Promise<StoredVerdict | Refusal> {
    const source = this.#consumers.get(id)?.sources.get(event.entity.component);
    assert(source !== undefined, `an event that consumer '${id}' does not handle`);
    return this.#running.run(`consumer '${id}' at ${eventLabel(event)}`, async () =>
      verdictOf(
        await source.handle(
          valueOf(source, event) as never,
          consumerContext(context, event, calls, this.#reachable),
        ),
      ),
    );
  }

  /** Fails the calls under way. */
  close(): void {
    this.#running.close();
  }
}

/** Decodes the event. Throws GuestFault. */
function valueOf({ entity }: ConsumerSource<unknown>, event: EntityEvent): unknown {
  try {
    return decodeEvent(entity, event.event);
  } catch (error) {
    if (!(error instanceof CodecProblem)) throw error;
    throw new GuestFault('value', `${eventLabel(event)} does not decode: ${error.message}`, {
      cause: error,
    });
  }
}

function verdictOf(answer: unknown): StoredVerdict | Refusal {
  if (answer instanceof Verdict) return answer.stored;
  if (answer instanceof Refused) return refusalOf(answer);
  throw new Error(
    'it answered no verdict: return done(), retry(reason), skip(reason), or a refusal',
  );
}

const DONE = new Verdict({ kind: 'done' });
const done = () => DONE;
const retry: ConsumerContext['retry'] = (reason, afterMs) =>
  new Verdict({ kind: 'retry', reason: textOf(reason), afterMs: pauseOf(afterMs) });
const skip: ConsumerContext['skip'] = (reason) =>
  new Verdict({ kind: 'skip', reason: textOf(reason) });

function consumerContext(
  context: CallContext,
  { entity: { id }, seq, timeMs }: EntityEvent,
  calls: HostCalls,
  reachable: ReachableComponents,
): ConsumerContext {
  const event = { entityId: id, seq, timeMs };
  return Object.assign(callingContext(context, calls, reachable), event, { done, retry, skip });
}

/** Throws TypeError if an untyped program passes another value. */
function textOf(reason: unknown): string {
  if (typeof reason === 'string') return reason.toWellFormed();
  throw new TypeError(`the reason of a verdict is a text, found ${typeof reason}`);
}

function pauseOf(afterMs: number | undefined): number | undefined {
  if (afterMs === undefined) return undefined;
  const whole = Math.max(0, Math.ceil(afterMs));
  if (Number.isSafeInteger(whole)) return whole;
  throw new RangeError(`afterMs is a number of milliseconds, found ${afterMs}`);
}
