// Retried: has an event handled again if something outside of its segment fails, such as the journal of the tenants.
import type { ConsumerContext, Refused } from '@svc/host';
import { SvcError } from '@svc/kit/svc-error';

type Verdict = ReturnType<ConsumerContext['done']>;

/** An error that is no SvcError is a defect, and parks the event. */
export async function retried(
  { retry }: Pick<ConsumerContext, 'retry'>,
  handle: () => Promise<Verdict | Refused>,
): Promise<Verdict | Refused> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof SvcError) return retry(error.message);
    throw error;
  }
}
