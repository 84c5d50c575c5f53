// Admission: which requests a web-hosted service takes, by what their connection proves. The internet, a developer's machine
// and the service itself are always admitted, other services only if the descriptor names them. A request under a mount
// is taken only from a service of the same project.
import { namesService } from '@svc/client';
import type { Caller } from '@svc/identity/caller';
import { answer, type ProxyAnswer } from './answers.ts';
import type { Arrival, OwnService } from './arrival.ts';

/** The connection of a request. */
export interface Peer {
  /** Undefined: its certificate names no caller. */
  readonly caller: Caller | undefined;
  /** True: the protocol of mounts was negotiated. */
  readonly isMount: boolean;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly arrival: Arrival }
  | { readonly kind: 'refused'; readonly answer: ProxyAnswer };

/** `callers`: the services that the descriptor admits. */
export function admit(
  { caller, isMount }: Peer,
  own: OwnService,
  callers: readonly string[],
): Admission {
  if (caller === undefined) return refused(answer('caller-unrecognised', {}));
  if (isMount) {
    const isOfProject = caller.kind === 'service' && caller.project === own.project;
    return isOfProject
      ? { kind: 'admitted', arrival: { caller: { kind: 'internet' }, isMounted: true } }
      : refused(answer('mount-of-another-project', {}));
  }
  if (
    caller.kind !== 'service' ||
    isItself(caller, own) ||
    namesService(callers, caller, own.project)
  )
    return { kind: 'admitted', arrival: { caller, isMounted: false } };
  return refused(answer('caller-not-admitted', { caller }));
}

function isItself(
  { project, service }: Extract<Caller, { readonly kind: 'service' }>,
  own: OwnService,
): boolean {
  return project === own.project && service === own.service;
}

function refused(refusal: ProxyAnswer): Admission {
  return { kind: 'refused', answer: refusal };
}
