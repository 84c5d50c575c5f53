// MachineOwner: which command runs the programs of an installation on this machine, and which programs those are, in a file. The lock
// beside it is one of the operating system, so what it says of a command that is gone is never mistaken for one that runs.
import { setTimeout as pause } from 'node:timers/promises';
import { FolderLock } from '@svc/kit/folder-lock';
import { ownProcessStart, processEnd, type ProcessStart } from '@svc/kit/process-start';
import { CommandFailure } from '../command.ts';
import { readPrivateFile, writePrivateFile } from '../platform/private-file.ts';
import type { MachineLayout } from './machine-layout.ts';

export interface OwnerState {
  readonly version: 1;
  readonly phase: 'starting' | 'ready' | 'stopping';
  readonly owner: ProcessStart;
  readonly programs: Readonly<Record<string, ProcessStart>>;
}

const LOOK_MS = 50;
/** Time for programs that have lost their supervisor to end by themselves, in milliseconds; then they are killed. */
const LEFT_BEHIND_MS = 12_000;
/** Time for a command that was asked to stop, in milliseconds. */
const STOP_MS = 60_000;

/** The command that runs the programs: this process. */
export class MachineOwner implements Disposable {
  readonly #layout: MachineLayout;
  readonly #lock: FolderLock;
  #state: OwnerState;

  private constructor(layout: MachineLayout, lock: FolderLock) {
    this.#layout = layout;
    this.#lock = lock;
    this.#state = { version: 1, phase: 'starting', owner: ownProcessStart(), programs: {} };
  }

  /**
   * Makes this process the owner, once no program is left over of one that was killed. Throws SVC_MACHINE_IN_USE if another process owns
   * the folder. `onLeft` is called if programs are left over.
   */
  static async take(
    layout: MachineLayout,
    onLeft: (programs: readonly string[]) => void,
  ): Promise<MachineOwner> {
    const lock = new FolderLock(layout.lock);
    if (!lock.tryTake()) throw inUse(layout);
    try {
      await endLeftOver(layout, onLeft);
      const owner = new MachineOwner(layout, lock);
      owner.write({});
      return owner;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  write(change: Partial<Pick<OwnerState, 'phase' | 'programs'>>): void {
    this.#state = { ...this.#state, ...change };
    writePrivateFile(this.#layout.ownerFile, this.#state);
  }

  [Symbol.dispose](): void {
    this.#lock.release();
  }
}

/** Returns what the file says; undefined if there is none that this version can read. */
export function readOwner({ ownerFile }: MachineLayout): OwnerState | undefined {
  const value = readPrivateFile(ownerFile)?.value as Partial<OwnerState> | null | undefined;
  return value?.version === 1 && isStart(value.owner) && typeof value.programs === 'object'
    ? (value as OwnerState)
    : undefined;
}

/** Ends the owner and its programs. Resolves with whether there was one. Rejects with SVC_MACHINE_IN_USE if it does not end. */
export async function endOwner(layout: MachineLayout): Promise<boolean> {
  const lock = new FolderLock(layout.lock);
  const wasFree = lock.tryTake();
  if (wasFree) lock.release();
  else {
    const owner = readOwner(layout)?.owner;
    if (owner === undefined || processEnd(owner) !== undefined) throw inUse(layout);
    process.kill(owner.pid, 'SIGTERM');
    const untilMs = performance.now() + STOP_MS;
    while (processEnd(owner) === undefined) {
      if (performance.now() > untilMs) throw inUse(layout);
      // oxlint-disable-next-line no-await-in-loop -- it waits for a process of others
      await pause(LOOK_MS);
    }
  }
  await endLeftOver(layout, () => {});
  return !wasFree;
}

/** Programs end by themselves when their supervisor is gone; those that do not are killed. */
async function endLeftOver(
  layout: MachineLayout,
  onLeft: (programs: readonly string[]) => void,
): Promise<void> {
  const programs = Object.entries(readOwner(layout)?.programs ?? {});
  const left = (): readonly (readonly [string, ProcessStart])[] =>
    programs.filter(([, start]) => isStart(start) && processEnd(start) === undefined);
  if (left().length > 0) onLeft(left().map(([name]) => name));
  const untilMs = performance.now() + LEFT_BEHIND_MS;
  for (let running = left(); running.length > 0; running = left()) {
    if (performance.now() > untilMs)
      for (const [, { pid }] of running) if (pid > 1) process.kill(-pid, 'SIGKILL');
    // oxlint-disable-next-line no-await-in-loop -- it waits for processes of others
    await pause(LOOK_MS);
  }
}

function isStart(value: unknown): value is ProcessStart {
  const { pid, startTime, bootId } = (value ?? {}) as Partial<Record<keyof ProcessStart, unknown>>;
  return Number.isInteger(pid) && startTime !== undefined && bootId !== undefined;
}

function inUse(layout: MachineLayout): CommandFailure {
  const pid = readOwner(layout)?.owner.pid;
  return new CommandFailure(
    'SVC_MACHINE_IN_USE',
    `The installation in ${layout.folder} is run by ${pid === undefined ? 'another process' : `the process ${pid}`} already. ` +
      'svc down stops it; svc up --folder DIR starts another one beside it.',
  );
}
