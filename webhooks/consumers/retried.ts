// Retried: has an event handled until it succeeds, since nobody could decide about a parked one: segments have no console. What fails is nearly always
// outside of the segment, such as the journal of the tenants, and passes.
//
// Invariant: an event is settled only once it was handled. Neither an error nor a refusal parks it, with the settings of segments
// (segment-settings.ts). A lane that waits holds up the events of its own dataset alone.
import { Refused, type ConsumerContext } from '@svc/host';

type Verdict = ReturnType<ConsumerContext['done']>;

/** Receives the reason why an event has to be handled again. */
export type HandlingFailed = (reason: string) => void;

export async function retried(
  { retry }: Pick<ConsumerContext, 'retry'>,
  failed: HandlingFailed,
  handle: () => Promise<Verdict | Refused>,
): Promise<Verdict> {
  let reason: string;
  try {
    const verdict = await handle();
    if (!(verdict instanceof Refused)) return verdict;
    reason = `${verdict.code}: ${verdict.message}`;
  } catch (error) {
    reason = String(error);
  }
  failed(reason);
  return retry(reason);
}
