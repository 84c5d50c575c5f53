// LogFollower: the lines of a service as they are written, from all of its instances, until the command is stopped or the service is
// deleted. The control plane answers with what it has at the moment, so it is asked again each second.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type InputOf, type ServiceLogs } from '@svc/client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { printData } from '../terminal.ts';
import { logLine, widthOf } from './log-lines.ts';
import { NewLines } from './new-lines.ts';
import type { Platform } from './platform.ts';

const PAUSE_MS = 1_000;
/** Time that each request covers beyond that since the one before, in seconds. */
const OVERLAP_S = 1;
/** How often an instance may be absent from the answers before its lines are forgotten. */
const ABSENCES_MAX = 10;

interface Followed {
  readonly lines: NewLines;
  absences: number;
  /** The error that was reported last. */
  error: string | null;
}

/** Resolves when the service is deleted or stdout is closed. Rejects if the first request fails, or the login has ended. */
export async function followLogs(
  platform: Platform,
  input: InputOf<'getServiceLogs'>,
): Promise<void> {
  const { tail: _, ...later } = input;
  const followed = new Map<string, Followed>();
  let answeredAtMs: number | undefined;
  let isReported = false;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      const query =
        answeredAtMs === undefined
          ? input
          : { ...later, since: Math.ceil((askedAtMs - answeredAtMs) / 1000) + OVERLAP_S };
      const answer = await logsOf(platform, query, answeredAtMs === undefined);
      if (answer === 'deleted') return report('The service is deleted.');
      answeredAtMs = askedAtMs;
      isReported = false;
      if (!(await print(answer, followed))) return;
    } catch (error) {
      const isOutage = error instanceof CommandFailure && error.code === 'SVC_API_UNAVAILABLE';
      if (!isOutage || answeredAtMs === undefined) throw error;
      if (!isReported) report(`${error.message} Asking again each second.`);
      isReported = true;
    }
    await sleep(PAUSE_MS);
  }
}

/** Returns the logs, which are empty while no instance runs. Rejects if there is no such service at the first request. */
async function logsOf(
  platform: Platform,
  input: InputOf<'getServiceLogs'>,
  isFirst: boolean,
): Promise<ServiceLogs | 'deleted'> {
  try {
    return await platform.call('getServiceLogs', input);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    const { projectId, name } = input;
    await platform.call('getService', { projectId, name });
    return { instances: [] };
  } catch (error) {
    if (isNotFound(error) && !isFirst) return 'deleted';
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return (
    error instanceof CommandFailure && error.cause instanceof ApiError && error.cause.status === 404
  );
}

/** Prints what is new. Resolves with false when nobody reads it any more. */
async function print(
  { instances }: ServiceLogs,
  followed: Map<string, Followed>,
): Promise<boolean> {
  const width = instances.length > 1 || followed.size > 1 ? widthOf(instances) : 0;
  const present = new Set(instances.map(({ instance }) => instance));
  for (const [instance, state] of followed) {
    state.absences = present.has(instance) ? 0 : state.absences + 1;
    if (state.absences === 1) report(`${instance} no longer runs.`);
    if (state.absences > ABSENCES_MAX) followed.delete(instance);
  }
  let text = '';
  for (const { instance, output, error } of instances) {
    const state = followed.get(instance) ?? { lines: new NewLines(), absences: 0, error: null };
    followed.set(instance, state);
    for (const line of state.lines.take(output)) text += logLine(instance, line, width);
    if (error !== null && error !== state.error) report(`${instance} cannot be read: ${error}`);
    state.error = error;
  }
  return text === '' || (await printData(text));
}

function report(message: string): void {
  process.stderr.write(`${printable(message)}\n`);
}
