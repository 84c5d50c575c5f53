// CallerText: callers as `X-Svc-Caller` names them.
import type { Caller } from '@svc/identity/caller';

export function callerText(caller: Caller): string {
  return caller.kind === 'service' ? `service ${caller.project}/${caller.service}` : caller.kind;
}
