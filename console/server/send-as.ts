// SendAs: the caller as whom the page sends a request, to a service that takes development tokens. The console signs a token for
// this one request; neither the token nor the key reaches the page.
//
// Invariant: a token goes only to a service whose process is one of this user, and that says where it is and is called at addresses at which
// nobody else listened a moment before. A service that was killed leaves its registration, and another user of the machine could listen at
// its addresses.
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '@svc/kit/svc-error';
import type { LoopbackAddress } from '@svc/kit/loopback-address';
import type { Registration } from '@svc/kit/registrations';
import { GRANT, SUBJECT } from '@svc/tokens/caller-grammar';
import { type Answer, refusal } from './answer.ts';
import { type Listener, listenerAt } from './listener-user.ts';
import type { SocketReader } from './socket-tables.ts';

export interface SendAs {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

/** Pause after which a service that replaces its module listens again. */
export const LISTENS_AGAIN_MS = 150;
const GRANTS_MAX = 32;
/** Lifetime of a token. A service judges it when the request arrives. */
const LIFETIME_MS = 60_000;
/** Reasons for which a service gets no token, by who listens at its address. */
const LISTENER_PROBLEMS: Readonly<Record<Exclude<Listener, 'own'>, string>> = {
  nobody: 'Nobody listens at the address of the service, so it gets no token.',
  another:
    'Another user of this machine listens at the address of the service, so it gets no token.',
  unreadable:
    'The console cannot read which user listens at the address of the service, so it gets no token. Try again.',
};

/** Returns why the value names no caller, as text for the user; undefined if it does. */
export function sendAsProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'The caller must be an object.';
  const { subject, roles, scopes } = value as Readonly<Record<string, unknown>>;
  if (typeof subject !== 'string' || !SUBJECT.test(subject))
    return 'The subject must have 1 to 255 characters, and no control characters.';
  for (const grants of [roles, scopes]) {
    if (!Array.isArray(grants) || grants.length > GRANTS_MAX)
      return `A caller can have up to ${GRANTS_MAX} roles and ${GRANTS_MAX} scopes.`;
    if (!grants.every((grant) => typeof grant === 'string' && GRANT.test(grant)))
      return 'Roles and scopes must be visible ASCII characters, without quotation mark and backslash, up to 255.';
  }
  return undefined;
}

/** Returns the header with the token, or why there is none. */
export async function authorization(
  registration: Registration,
  address: LoopbackAddress,
  { subject, roles, scopes }: SendAs,
  keyFile: () => string,
  sockets: SocketReader,
): Promise<readonly [string, string] | Answer> {
  if (!isProcessOfThisUser(registration.pid))
    return refusal(
      409,
      'The process of the service is not one of yours that the console can see, so it gets no token. Nothing was sent to it.',
    );
  const noListener =
    (await listenerRefusal(registration.address, sockets)) ??
    (await listenerRefusal(address, sockets));
  if (noListener !== undefined) return noListener;
  const { developmentToken } = await import('@svc/tokens/development-tokens');
  try {
    const caller = { subject, roles, scopes, claims: {}, lifetimeMs: LIFETIME_MS };
    return ['authorization', `Bearer ${await developmentToken(keyFile(), caller, Date.now())}`];
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return refusal(409, `${error.message} Nothing was sent.`);
  }
}

/** Returns why nothing with a token is sent to the address; undefined if this user alone listens there. */
export async function listenerRefusal(
  address: LoopbackAddress,
  sockets: SocketReader,
): Promise<Answer | undefined> {
  let listener = await listenerAt(address, sockets);
  if (listener === 'nobody') {
    await delay(LISTENS_AGAIN_MS);
    listener = await listenerAt(address, sockets);
  }
  if (listener === 'own') return undefined;
  return refusal(409, `${LISTENER_PROBLEMS[listener]} Nothing was sent to it.`);
}

function isProcessOfThisUser(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
