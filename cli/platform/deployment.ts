// Deployment: waits until a generation of a service is ready, and says what changes meanwhile.
//
// Invariants: only the generation that was applied counts. A question that fails says nothing about the deployment, so it is asked
// again until the time is over.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type ServiceStatus } from '@svc/client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { lastLines } from './last-lines.ts';
import type { Platform } from './platform.ts';

/** Pause between two questions for the status, in milliseconds. */
const PAUSE_MS = 400;
/** Time for an answer, in milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;

/** The meaning of a status for a generation. */
type Judgement = 'waits' | 'ready' | 'paused' | 'failed' | 'suspended' | 'superseded';

/**
 * Waits for the generation of `applied`. Resolves with the status when it is ready, or when the service is paused. Rejects with
 * SVC_DEPLOY_FAILED, SVC_DEPLOY_SUPERSEDED, SVC_DEPLOY_UNFINISHED after the time, and what `Platform.call` rejects with.
 */
export async function deployed(
  platform: Platform,
  applied: ServiceStatus,
  timeoutMs: number,
): Promise<ServiceStatus> {
  const { projectId, name, generation } = applied;
  const endMs = performance.now() + timeoutMs;
  const changes = new Changes(`${name} generation ${generation}`);
  let status: ServiceStatus | undefined = applied;
  for (;;) {
    if (status !== undefined) {
      changes.see(status, generation);
      const judgement = judge(status, generation);
      if (judgement === 'ready' || judgement === 'paused') return status;
      if (judgement !== 'waits') throw await failure(platform, judgement, status, generation);
    }
    const leftMs = endMs - performance.now();
    if (leftMs <= PAUSE_MS) throw unfinished(projectId, name, generation, timeoutMs);
    await sleep(PAUSE_MS);
    status = await statusOf(platform, applied, Math.min(ANSWER_TIMEOUT_MS, leftMs), changes);
  }
}

/** Returns what a status says about a generation. A failure that is only repeated from before is waited out. */
function judge({ generation, lifecycle, confirmed }: ServiceStatus, awaited: number): Judgement {
  if (generation !== awaited) return 'superseded';
  if (lifecycle === 'paused') return 'paused';
  if (lifecycle === 'suspended') return 'suspended';
  if (!confirmed) return 'waits';
  if (lifecycle === 'ready') return 'ready';
  return lifecycle === 'failed' ? 'failed' : 'waits';
}

/** Returns the status; undefined if there is no answer. */
async function statusOf(
  platform: Platform,
  { projectId, name, generation }: ServiceStatus,
  timeoutMs: number,
  changes: Changes,
): Promise<ServiceStatus | undefined> {
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    return await platform.call('getService', { projectId, name }, signal);
  } catch (error) {
    if (isNotFound(error))
      throw new CommandFailure(
        'SVC_DEPLOY_SUPERSEDED',
        `${name} was deleted while generation ${generation} was deployed. svc service list shows what there is; deploy again if you want it back.`,
        { cause: error },
      );
    if (!isOutage(error, signal)) throw error;
    changes.lose(error instanceof CommandFailure ? error.message : 'The status was not answered.');
    return undefined;
  }
}

function isNotFound(error: unknown): boolean {
  return (
    error instanceof CommandFailure && error.cause instanceof ApiError && error.cause.status === 404
  );
}

function isOutage(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted || (error instanceof CommandFailure && error.code === 'SVC_API_UNAVAILABLE')
  );
}

async function failure(
  platform: Platform,
  judgement: 'failed' | 'suspended' | 'superseded',
  status: ServiceStatus,
  awaited: number,
): Promise<CommandFailure> {
  const { projectId, name, detail } = status;
  if (judgement === 'superseded')
    return new CommandFailure(
      'SVC_DEPLOY_SUPERSEDED',
      `${name} has generation ${status.generation} by now, so generation ${awaited} is not waited for. svc service history ${name} ` +
        `--project ${projectId} shows who changed it.`,
    );
  if (judgement === 'suspended')
    return new CommandFailure(
      'SVC_DEPLOY_FAILED',
      `${name} does not run: the organization of the project ${projectId} is disabled. A platform administrator can enable it.`,
    );
  await lastLines(platform, status);
  return new CommandFailure(
    'SVC_DEPLOY_FAILED',
    `Generation ${awaited} of ${name} failed: ${sentence(detail ?? 'no reason is known')} Correct the reason, and deploy again; ` +
      `svc service get ${name} --project ${projectId} shows what runs.`,
  );
}

function sentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

function unfinished(
  projectId: string,
  name: string,
  generation: number,
  timeoutMs: number,
): CommandFailure {
  return new CommandFailure(
    'SVC_DEPLOY_UNFINISHED',
    `Generation ${generation} of ${name} is not ready after ${timeoutMs / 1000} s. The deployment continues: watch it with ` +
      `svc service get ${name} --project ${projectId}, or wait longer with --timeout.`,
  );
}

/** Writes a line to stderr for each status that differs from the one before. */
class Changes {
  readonly #what: string;
  #last: string | undefined;
  #isLost = false;

  constructor(what: string) {
    this.#what = what;
  }

  see(status: ServiceStatus, awaited: number): void {
    this.#isLost = false;
    // The failure that ends the command reports another generation.
    if (status.generation !== awaited) return;
    const { lifecycle, readyInstances, desiredInstances, detail } = status;
    const line =
      `${lifecycle}, ${readyInstances} of ${desiredInstances} ready` +
      (detail === undefined || lifecycle === 'failed' ? '' : `: ${detail}`);
    if (line === this.#last) return;
    this.#last = line;
    process.stderr.write(`${printable(`${this.#what}: ${line}`)}\n`);
  }

  /** Says once that there is no answer. */
  lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    process.stderr.write(`${printable(`${reason} The deployment continues; asking again.`)}\n`);
  }
}
