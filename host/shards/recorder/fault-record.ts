// recordedFault creates the record of a failure for the span that ended with it. The record has the messages of the
// runtime and of the module, without secrets, truncated.
import type { Refusal } from '@svc/model/call';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { RecordedFault } from './recorded-span.ts';

/** Maximum length of a message in UTF-16 units. */
const WORDS_UNITS_MAX = 2_000;

type Shown = (text: string) => string;

/** Records a failure. `failure`: a refusal, or the thrown error. `shown`: returns a text as it may be printed. */
export function recordedFault(
  failure: unknown,
  errorId: string | undefined,
  shown: Shown = (text) => text,
): RecordedFault {
  const cut = (words: string): string => truncated(shown(words));
  if (failure instanceof GuestFault) return faultOfGuest(failure, errorId, shown);
  if (failure instanceof SvcError) {
    const { code, message, cause } = failure;
    const words = { code, reason: cut(message), errorId };
    if (!(cause instanceof GuestFault))
      return { ...words, limit: undefined, guestMessage: undefined, frames: undefined };
    const { limit, guestMessage, logLines, frames } = faultOfGuest(cause, errorId, shown);
    return { ...words, limit, guestMessage, logLines, frames };
  }
  if (isRefusal(failure)) {
    const { code, otherCode, message } = failure;
    return {
      code: cut(otherCode ?? code),
      limit: undefined,
      reason: cut(message),
      guestMessage: undefined,
      frames: undefined,
      errorId,
    };
  }
  return {
    code: 'bug',
    limit: undefined,
    reason: cut(failure instanceof Error ? failure.message : String(failure)),
    guestMessage: undefined,
    frames: undefined,
    errorId,
  };
}

function faultOfGuest(fault: GuestFault, errorId: string | undefined, shown: Shown): RecordedFault {
  const cut = (words: string): string => truncated(shown(words));
  const { faultCause, limit, message, guestMessage, logLines, frames } = fault;
  return {
    code: faultCause,
    limit,
    reason: cut(message),
    guestMessage: guestMessage === undefined ? undefined : cut(guestMessage),
    logLines: logLines?.map(shown),
    frames,
    errorId,
  };
}

function isRefusal(failure: unknown): failure is Refusal {
  return (
    typeof failure === 'object' &&
    failure !== null &&
    'kind' in failure &&
    failure.kind === 'refusal'
  );
}

function truncated(words: string): string {
  return words.length <= WORDS_UNITS_MAX ? words : `${words.slice(0, WORDS_UNITS_MAX)}…`;
}
