// The module's export `consumer.handle`: lowers an event and lifts the verdict. Offsets are those of the canonical ABI for
// wit/runtime.wit.
import assert from 'node:assert/strict';
import type { CallContext, Refusal } from '@svc/model/call';
import type { Verdict } from '@svc/model/consumer';
import type { EntityEvent } from '@svc/model/entity';
import { liftRefusal, lowerPairs } from '../binding/canonical-values.ts';
import type { Handler } from '../binary/core-interface.ts';
import type { GuestMemory } from '../binding/guest-memory.ts';
import type { HandlerExport } from './handler-export.ts';

/** An event for a consumer. */
export interface Consumption {
  readonly consumer: string;
  readonly event: EntityEvent;
}

/** `result<verdict, refusal>`, aligned to 8: tag 0, verdict or refusal 8. The refusal is the larger one, with 32 bytes. */
const RESULT_SIZE = 40;
const VERDICT = { done: 0, retry: 1 } as const;
const VERDICT_CASES = 3;

export const CONSUMER_HANDLE: HandlerExport<Consumption, Verdict | Refusal> = {
  function({ consume }) {
    assert(consume !== undefined, 'a module with consumers was admitted without the export');
    return consume;
  },
  call: callConsume,
  lift: liftVerdict,
  postReturn: ({ consumePost }) => consumePost,
};

function callConsume<Result>(
  memory: GuestMemory,
  consume: (...parameters: Parameters<Handler>) => Result,
  context: CallContext,
  { consumer, event }: Consumption,
): Result {
  const metadata = lowerPairs(memory, context.metadata);
  const metadataLength = memory.loweredLength;
  const name = memory.lowerString(consumer);
  const nameLength = memory.loweredLength;
  const component = memory.lowerString(event.entity.component);
  const componentLength = memory.loweredLength;
  const id = memory.lowerString(event.entity.id);
  const idLength = memory.loweredLength;
  const manifest = memory.lowerString(event.event.manifest);
  const manifestLength = memory.loweredLength;
  const json = memory.lowerString(event.event.json);
  const jsonLength = memory.loweredLength;
  return consume(
    BigInt(context.nowMs),
    context.seed,
    metadata,
    metadataLength,
    name,
    nameLength,
    component,
    componentLength,
    id,
    idLength,
    BigInt(event.seq),
    BigInt(event.timeMs),
    manifest,
    manifestLength,
    json,
    jsonLength,
  );
}

/**
 * `verdict`: case 0, payload 8. `retry-later`: reason 0, after-ms 8 (its value 16).
 */
function liftVerdict(memory: GuestMemory, result: number): Verdict | Refusal {
  const address = memory.record(result, RESULT_SIZE, 8);
  if (memory.tag(address, 2) === 1) return liftRefusal(memory, address + 8);
  switch (memory.tag(address + 8, VERDICT_CASES)) {
    case VERDICT.done:
      return { kind: 'done' };
    case VERDICT.retry:
      return {
        kind: 'retry',
        reason: memory.stringAt(address + 16),
        afterMs: memory.tag(address + 24, 2) === 1 ? memory.u64(address + 32) : undefined,
      };
    default:
      return { kind: 'skip', reason: memory.stringAt(address + 16) };
  }
}
