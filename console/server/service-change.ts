// ServiceChange: a change of a service that the user has asked for on the page, such as the retry of a timer. It is sent to the
// service's control socket, which only the user of both can reach; the socket's own checks are in @svc/kit/control-socket.
import { sendControl } from '@svc/kit/control-client';
import { SvcError } from '@svc/kit/svc-error';
import { type Answer, JSON_TYPE, refusal } from './answer.ts';
import type { Registration } from '@svc/kit/registrations';
import { describe } from '@svc/kit/described-service';

const DESCRIBE_DEADLINE_MS = 6_000;
/** Maximum bytes of a body: that of the control socket. */
export const CHANGE_BYTES_MAX = 64 * 1024;
/** The paths of the control socket that the page may use. */
const CHANGES: ReadonlySet<string> = new Set([
  '/timers/cancel',
  '/timers/retry',
  '/views/rebuild',
  '/views/skip',
  '/consumers/retry',
  '/consumers/skip',
]);

export function isChange(path: string): boolean {
  return CHANGES.has(path);
}

/** Sends a change, and passes on the status and body of the answer. `body`: text that should be JSON. */
export async function changeService(
  registration: Registration,
  path: string,
  body: string,
): Promise<Answer> {
  const found = await describe(registration, DESCRIBE_DEADLINE_MS);
  if (found.kind !== 'described')
    return refusal(
      found.kind === 'late' ? 504 : 502,
      'The service did not answer, so nothing was sent to it.',
    );
  const { control } = found.service;
  if (typeof control !== 'string')
    return refusal(
      409,
      'The service has no control socket, as a program that embeds it. It cannot be changed from here.',
    );
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refusal(400, 'The request is not JSON.');
  }
  if (typeof value !== 'object' || value === null)
    return refusal(400, 'The request is not a JSON object.');
  try {
    const answer = await sendControl(control, path, value);
    return { status: answer.status, type: JSON_TYPE, body: answer.body };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return refusal(error.code === 'SVC_ANSWER_TIMED_OUT' ? 504 : 502, error.message);
  }
}
