// StateFile is the file in which the process of a service says how far it is: starting, prepared, ready, stopping or
// ended, and how it has ended. Whoever looks after the service reads the file at any time, so no process has to watch
// another one.
//
// Invariants
// S1  A reader sees a whole state or none: the file is replaced, never changed.
// S2  A file that cannot be written stops no service. Its failure is reported once.
// S3  The content of a file counts as foreign text: a reader takes nothing of it that has another form.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {
  ownProcessStart,
  type ProcessEnd,
  processEnd,
  type ProcessStart,
} from './process-start.ts';

export const SERVICE_PHASES = ['starting', 'prepared', 'ready', 'stopping', 'ended'] as const;
/** `prepared`: the service has all that it needs but the data folder, which another process uses. */
export type ServicePhase = (typeof SERVICE_PHASES)[number];

/** How a process has ended, in its own words. */
export interface ServiceExit {
  /** Exit code; null if a signal has ended the process. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Code of the failure, `SVC_…`; absent if there was none. */
  readonly error?: string;
  /** Message of the failure, at most 4,000 UTF-16 units. */
  readonly message?: string;
}

/** The content of a state file. */
export interface ServiceState extends ProcessStart {
  readonly version: 1;
  readonly phase: ServicePhase;
  /** Present once the phase is `ended`. */
  readonly exit?: ServiceExit;
  /** ISO 8601, in UTC. */
  readonly updatedAt: string;
}

/** The state of a service according to its state file and the processes of this machine. */
export type ObservedState =
  /** There is no file: the process has not come that far, or was given another file. */
  | { readonly kind: 'missing' }
  /** The file is torn, or none that a service has written. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The process runs. A process that has written `ended` is about to. */
  | { readonly kind: 'running'; readonly state: ServiceState }
  /** The process has ended, and has said how. */
  | { readonly kind: 'ended'; readonly state: ServiceState; readonly exit: ServiceExit }
  /** The process does not run any more, and could not say why: it was killed, or the machine was. */
  | { readonly kind: 'dead'; readonly state: ServiceState; readonly end: ProcessEnd };

const VERSION = 1;
/** Maximum size of a file that is read, in bytes. */
const BYTES_MAX = 64 * 1024;
const MESSAGE_CHARACTERS_MAX = 4_000;
const TEXT_CHARACTERS_MAX = 100;

export class StateFile {
  readonly #path: string;
  readonly #process = ownProcessStart();
  readonly #onFailure: (error: unknown) => void;
  #hasFailed = false;

  /** `onFailure` receives the first error of the file system. Nothing is written before `write`. */
  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#path = path;
    this.#onFailure = onFailure;
  }

  /** Replaces the file. Never throws. */
  write(phase: ServicePhase, exit?: ServiceExit): void {
    const state: ServiceState = {
      version: VERSION,
      ...this.#process,
      phase,
      ...(exit === undefined ? {} : { exit: shortened(exit) }),
      updatedAt: new Date().toISOString(),
    };
    const unfinished = `${this.#path}.new`;
    try {
      // What a killed process has left may have other rights, or be a link.
      rmSync(unfinished, { force: true });
      writeFileSync(unfinished, `${JSON.stringify(state)}\n`, { flag: 'wx', mode: 0o600 });
      renameSync(unfinished, this.#path);
    } catch (error) {
      if (!this.#hasFailed) this.#onFailure(error);
      this.#hasFailed = true;
    }
  }
}

function shortened(exit: ServiceExit): ServiceExit {
  if (exit.message === undefined) return exit;
  return { ...exit, message: exit.message.slice(0, MESSAGE_CHARACTERS_MAX) };
}

/** Reads a state file, and judges by the processes of this machine whether it still holds. Never throws. */
export function observeState(path: string): ObservedState {
  const found = readState(path);
  if ('kind' in found) return found;
  const end = processEnd(found);
  if (end === undefined) return { kind: 'running', state: found };
  return found.phase === 'ended' && found.exit !== undefined
    ? { kind: 'ended', state: found, exit: found.exit }
    : { kind: 'dead', state: found, end };
}

function readState(
  path: string,
): ServiceState | Extract<ObservedState, { kind: 'missing' | 'unreadable' }> {
  let text: string | undefined;
  try {
    text = readSmallFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'unreadable', reason: `it cannot be read (${code})` };
  }
  if (text === undefined) return { kind: 'unreadable', reason: 'it is no file of a service' };
  try {
    return (
      stateIn(JSON.parse(text)) ?? { kind: 'unreadable', reason: 'it is no state of a service' }
    );
  } catch {
    return { kind: 'unreadable', reason: 'it is no whole JSON' };
  }
}

/** Returns the text of a regular file of at most BYTES_MAX bytes; undefined for anything else, which is not read. */
function readSmallFile(path: string): string | undefined {
  // A link may lead anywhere, and opening a pipe would wait for its writer.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= BYTES_MAX ? readFileSync(file, 'utf8') : undefined;
  } finally {
    closeSync(file);
  }
}

/** Returns the state in a parsed file, without members that no state has; undefined if it is none. */
function stateIn(value: unknown): ServiceState | undefined {
  if (!isRecord(value)) return undefined;
  const { version, pid, startTime, bootId, phase, exit, updatedAt } = value;
  if (version !== VERSION || !isCount(pid) || pid < 1) return undefined;
  if (startTime !== null && !isCount(startTime)) return undefined;
  if (bootId !== null && !isText(bootId)) return undefined;
  const known = SERVICE_PHASES.find((one) => one === phase);
  if (known === undefined || !isText(updatedAt)) return undefined;
  const state = { version: VERSION, pid, startTime, bootId, phase: known, updatedAt } as const;
  if (exit === undefined) return state;
  const parsed = exitIn(exit);
  return parsed && { ...state, exit: parsed };
}

function exitIn(value: unknown): ServiceExit | undefined {
  if (!isRecord(value)) return undefined;
  const { code, signal, error, message } = value;
  if (code !== null && !isCount(code)) return undefined;
  if (signal !== null && !isText(signal)) return undefined;
  if (error !== undefined && !isText(error)) return undefined;
  if (message !== undefined && !isText(message, MESSAGE_CHARACTERS_MAX)) return undefined;
  return {
    code,
    signal,
    ...(error === undefined ? {} : { error }),
    ...(message === undefined ? {} : { message }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown, charactersMax = TEXT_CHARACTERS_MAX): value is string {
  return typeof value === 'string' && value.length <= charactersMax;
}
