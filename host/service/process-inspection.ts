// ProcessInspection reaches a process for the tools that read a journal with the code of a service, or that describe it. The process is
// asked once for what it holds; a tool does not wait for a process that is not there.
import { SvcError } from '@svc/kit/svc-error';
import { awaitProcess } from '../hosting/process/awaited-process.ts';
import { ProcessAway } from '../hosting/process/process-failures.ts';
import { PROCESS_SETTINGS_DEFAULT } from '../hosting/process/process-settings.ts';
import { type ProcessSource, readProcess } from '../hosting/process/process-source.ts';
import type { ProcessConnection } from '../hosting/process/process-stream.ts';

/** Name of the service in the first frame of a tool. */
const TOOL_NAME = 'tool';

/** Rejects with SVC_PROCESS_UNAVAILABLE if nothing answers at the address, and with SVC_PROCESS_INVALID if the process cannot be served. */
export async function readProcessAt(address: string, signal?: AbortSignal): Promise<ProcessSource> {
  try {
    return await readProcess(connectionTo(address), signal);
  } catch (error) {
    if (!(error instanceof ProcessAway)) throw error;
    throw away(address, error.why, 'Start it, or give the address at which it listens.');
  }
}

/**
 * Waits until a process that was just started answers, for at most `timeoutMs`. Rejects as `readProcessAt` does, and with the signal's
 * reason.
 */
export async function readStartingProcess(
  address: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProcessSource> {
  const late = AbortSignal.timeout(timeoutMs);
  let why = 'does not answer';
  try {
    const ended = AbortSignal.any([signal, late]);
    return await awaitProcess(connectionTo(address), ended, (reason) => (why = reason));
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw away(
      address,
      `has not answered ${timeoutMs / 1000} s after its start: it ${why}`,
      'It has to listen at the port of the variable SVC_PROCESS_PORT.',
    );
  }
}

function connectionTo(address: string): ProcessConnection {
  return { address, service: TOOL_NAME, developing: true, settings: PROCESS_SETTINGS_DEFAULT };
}

function away(address: string, why: string, remedy: string): SvcError {
  return new SvcError('SVC_PROCESS_UNAVAILABLE', `The process at ${address} ${why}. ${remedy}`);
}
