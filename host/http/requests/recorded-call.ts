// RecordedCall is a call of a handler with its result, as request-calls.ts records it for a replay: the replayed handler has
// to make the same call.
import type { HostCalls } from '../../engine/needs/guest.ts';
import type { Awaitable, Refusal, Reply } from '../../model/call.ts';
import { GuestFault } from '../../model/guest-fault.ts';

export const BYTES_PER_UNIT = 2;

export type Call = Parameters<HostCalls['call']>;
export type Outcome = Reply | Refusal;

/** A recorded call and its result: an answer, a failure, or the promise of either. */
export interface RecordedCall {
  readonly call: Call;
  answer: Awaitable<Outcome> | undefined;
  failure?: unknown;
}

/** Throws GuestFault unless the calls are the same. */
export function checkSame(recorded: Call, again: Call): void {
  if (!isSame(recorded, again))
    throw new GuestFault('trap', 'a handler that was run again made another call');
}

function isSame([target, name, input, metadata, key]: Call, again: Call): boolean {
  const [targetAgain, nameAgain, inputAgain, metadataAgain, keyAgain] = again;
  return (
    target.component === targetAgain.component &&
    target.id === targetAgain.id &&
    name === nameAgain &&
    input === inputAgain &&
    key === keyAgain &&
    metadata.length === metadataAgain.length &&
    metadata.every(([field, value], index) => {
      const [fieldAgain, valueAgain] = metadataAgain[index]!;
      return field === fieldAgain && value === valueAgain;
    })
  );
}

/** Returns the UTF-16 units of a call's texts. */
export function callUnits([{ component, id }, name, input, metadata, key = '']: Call): number {
  let units = component.length + id.length + name.length + input.length + key.length;
  for (const [field, value] of metadata) units += field.length + value.length;
  return units;
}

export function callBytes(call: Call): number {
  return callUnits(call) * BYTES_PER_UNIT;
}

/** Returns the UTF-16 units of a result's texts. */
export function outcomeUnits(outcome: Outcome): number {
  if (outcome.kind === 'reply') return outcome.json.length;
  const { message, details = '', otherCode = '' } = outcome;
  return message.length + details.length + otherCode.length;
}
