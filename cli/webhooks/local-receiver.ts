// LocalReceiver: a receiver to which a command sends deliveries from this machine, and the secret with which it signs them afresh.
import { signWebhook, type Subscription } from '@svc/client';
import { readEnvironment } from '../platform/environment.ts';
import { UsageError } from '../usage-error.ts';

export const SECRET_VARIABLE = 'SVC_WEBHOOK_SECRET';

export interface LocalDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly over: Subscription['signing']['over'];
  readonly secret: string;
  readonly timeoutMs: number;
}

/** The status of an answer, or why there was none. */
export type LocalAnswer =
  | { readonly status: number; readonly failure?: undefined }
  | { readonly status?: undefined; readonly failure: string };

/** Reads the URL of a receiver. Throws UsageError. */
export function receiverUrlOf(command: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${command} takes a URL with http or https as --to, and found '${text}'.`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${command} takes no user name and no password in the URL of --to.`);
  return url;
}

/** Returns the secret that the user has chosen. Throws UsageError. */
export function chosenSecret(): string | undefined {
  return readEnvironment().variables[SECRET_VARIABLE];
}

/** Sends a delivery, without following redirects. Never rejects. */
export async function sendLocally(url: URL, delivery: LocalDelivery): Promise<LocalAnswer> {
  const { headers, body, over, secret, timeoutMs } = delivery;
  const part = over === 'path' ? { path: url.pathname } : { body };
  const signature = await signWebhook({ secret, ...part });
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body,
      headers: { ...headers, ...signature },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return { status: response.status };
  } catch (error) {
    return { failure: reasonOf(error as Error) };
  }
}

/** A name with several addresses has an error of each one, and none in words. */
function reasonOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  const { code, message: reason } = cause as NodeJS.ErrnoException;
  return reason === '' ? (code ?? message) : reason;
}
