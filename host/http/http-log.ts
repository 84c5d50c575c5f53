// HttpLog: the HTTP server's log for the operator. Its lines are structured: text of a module or a caller is
// in the fields, never in the message, so that the logger can escape it.
import { GuestFault } from '@svc/model/guest-fault';
import type { LimitName } from '@svc/model/limit-name';
import { SvcError } from '@svc/kit/svc-error';

export interface HttpLogFields {
  /** Id of the failure, to find this line by. The caller has received it if the status was 500 or 504. */
  readonly errorId: string;
  /** Method and template of the route; absent when none was matched. */
  readonly route?: string;
  /** The failure's documented code, the cause of a guest's fault, or `bug`. */
  readonly code: string;
  /** Limit that the guest exceeded, if any. */
  readonly limit?: LimitName;
  /** Reason of the failure. */
  readonly reason: string;
  /** The module's own abort message, with `file:line`. Untrusted text. */
  readonly guestMessage?: string;
  /** The failure itself, for its stack and its causes. */
  readonly err: unknown;
}

export interface HttpLog {
  /** Logs a fault of the guest, or a failure that the runtime knows. */
  warn(fields: HttpLogFields, message: string): void;
  /** Logs a bug of the runtime. */
  error(fields: HttpLogFields, message: string): void;
  /** Called for a failure that gets no line, so that it can be counted. */
  unlogged?(failure: unknown): void;
}

/** Logs the failure of a request. `route`: as in HttpLogFields. */
export function logFailure(
  log: HttpLog,
  failure: unknown,
  { errorId, route }: { readonly errorId: string; readonly route: string | undefined },
): void {
  const fields = {
    errorId,
    ...(route === undefined ? {} : { route }),
    reason: failure instanceof Error ? failure.message : String(failure),
    err: failure,
  };
  if (failure instanceof GuestFault)
    log.warn(
      {
        ...fields,
        code: failure.faultCause,
        ...(failure.limit === undefined ? {} : { limit: failure.limit }),
        ...(failure.guestMessage === undefined ? {} : { guestMessage: failure.guestMessage }),
      },
      'The service failed to handle a request.',
    );
  else if (failure instanceof SvcError)
    log.warn({ ...fields, code: failure.code }, 'A request failed.');
  else log.error({ ...fields, code: 'bug' }, 'The runtime failed to handle a request.');
}
