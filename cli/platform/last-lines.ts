// LastLines: the end of the output of the instance that a failed deployment has started last.
import type { ServiceLogs, ServiceStatus } from '@svc/client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { linesOf, logLine } from './log-lines.ts';
import type { Platform } from './platform.ts';

/** Number of lines that are shown. */
const LINES = 20;
/** Time for an answer, in milliseconds. */
const ANSWER_TIMEOUT_MS = 5_000;

type InstanceLogs = ServiceLogs['instances'][number];

/**
 * Writes the lines to stderr, or nothing if there are none: the deployment has failed for another reason than that they cannot be
 * read.
 */
export async function lastLines(platform: Platform, status: ServiceStatus): Promise<void> {
  const newest = await linesBeforeEnd(platform, status);
  if (newest === undefined) return;
  process.stderr.write(`${printable(`The last lines of ${newest.instance}:`)}\n`);
  for (const line of linesOf(newest.output).slice(-LINES))
    process.stderr.write(`  ${logLine(newest.instance, line, 0)}`);
}

/** Returns the output of the newest instance; that of its run before if it has just been started again. */
async function linesBeforeEnd(
  platform: Platform,
  status: ServiceStatus,
): Promise<InstanceLogs | undefined> {
  const present = await newestOf(platform, status, {});
  if (present === undefined || present.output !== '') return present;
  const previous = await newestOf(platform, status, { instance: present.instance, previous: true });
  return previous === undefined || previous.output === '' ? undefined : previous;
}

async function newestOf(
  platform: Platform,
  { projectId, name, generation }: ServiceStatus,
  query: { readonly instance?: string; readonly previous?: boolean },
): Promise<InstanceLogs | undefined> {
  try {
    const { instances } = await platform.call(
      'getServiceLogs',
      { projectId, name, tail: LINES, ...query },
      AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    );
    return instances.findLast(({ instance }) => isOfGeneration(instance, name, generation));
  } catch (error) {
    if (error instanceof CommandFailure || (error as Error).name === 'TimeoutError')
      return undefined;
    throw error;
  }
}

/**
 * Returns whether an instance may be of the generation. Where names of instances have their generation, as on one machine, the lines
 * of a former generation are not shown as those of the failed one.
 */
function isOfGeneration(instance: string, name: string, generation: number): boolean {
  const own = instance.startsWith(`${name}-`) ? instance.slice(name.length + 1) : instance;
  const named = /^(\d{1,9})-[a-z0-9]+$/.exec(own);
  return named === null || Number(named[1]) === generation;
}
