// What a handler is answered for whose calls end as a test says: the status of its request, as the HTTP server gives it.
import type { Guest } from '../../model/guest.ts';
import { failureAnswer, refusalAnswer } from '../../host/http/answers.ts';
import type { Refusal, Reply } from '../../model/call.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../kit/svc-error.ts';
import { requestHandler } from '../../host/http/requests/request-handler.ts';
import { unlimitedEventLoop } from './unlimited-event-loop.ts';
import { WITHOUT_TIMERS } from './without-timers.ts';

const error = (code: ConstructorParameters<typeof SvcError>[0]) => new SvcError(code, code);
export const TIMED_OUT = error('SVC_ANSWER_TIMED_OUT');
export const UNCERTAIN = error('SVC_CALL_UNCERTAIN');
export const UNAVAILABLE = error('SVC_SHARD_UNAVAILABLE');
export const OVERLOADED = error('SVC_OVERLOADED');
export const CORRUPT = error('SVC_JOURNAL_CORRUPT');
export const TRAPPED = new GuestFault('trap', 'unreachable');
export const OUT_OF_FUEL = new GuestFault('fuel', 'out of fuel');
export const DONE: Reply = { kind: 'reply', json: '{"n":1}' };
export const REFUSED: Refusal = { kind: 'refusal', code: 'CONFLICT', message: 'taken' };
export type CallEnd = Error | Reply | Refusal;

/**
 * The status of a request for the route of that index, where calls and reads end as `ends` says of their entities.
 * `isPrompt`: a handler that need not wait for its calls does not.
 */
export async function statusOf(
  guest: Guest,
  route: number,
  ends: Readonly<Record<string, CallEnd>>,
  isPrompt = false,
): Promise<number> {
  const endOf = (id: string): Reply | Refusal => {
    const end = ends[id]!;
    if (end instanceof Error) throw end;
    return end;
  };
  const call = ({ id }: { readonly id: string }) => endOf(id);
  const handle = requestHandler({
    guest,
    engine: {
      call: async (target) => call(target),
      ...(isPrompt && { speculate: call }),
      ...WITHOUT_TIMERS,
      readEvents: async ({ id }) => {
        endOf(id);
        return [];
      },
    },
    clock: { nowMs: () => 1 },
    random: { next64: () => 2n },
    eventLoop: unlimitedEventLoop(),
  });
  const request = {
    route,
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'none' },
  } as const;
  try {
    const answer = await handle(request, []);
    return answer.kind === 'refusal' ? refusalAnswer(answer).status : answer.status;
  } catch (failure) {
    return failureAnswer(failure, 'id').status;
  }
}
