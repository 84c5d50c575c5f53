// OwnMachine is a machine of its own for a process that is started with its environment: clocks that a test sets, and a route to other
// machines. The library that does it is machine-of-its-own.c.
//
// Invariant: the monotonic clock of a process never goes back, because it is set back only by the time for which the process stood still.
import { chmodSync, closeSync, copyFileSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { preloadedLibrary } from '../preloaded-library.ts';

const library = preloadedLibrary(join(import.meta.dirname, 'machine-of-its-own.c'));
const CONTROL_BYTES = 16;
const MONOTONIC_OFFSET = 8;
const NS_PER_MS = 1e6;

/** Why there is no such machine on this system, and its tests are left out; undefined if there is. */
export function ownMachineProblem(): string | undefined {
  return library().problem;
}

function builtLibrary(): string {
  const { path, problem } = library();
  if (path === undefined) throw new Error(problem);
  return path;
}

export interface Route {
  /** Connections to this IPv4 address of other machines … */
  readonly peers: string;
  /** … are made to this one, at the same port. */
  readonly to: string;
}

export class OwnMachine {
  /** Variables for the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly #control: string;
  #stoodStillMs = 0;

  /**
   * Returns a machine for a process of another user, who may not reach the library where it was built. `folder`: an empty one, which everybody may
   * read from now on. Throws if `ownMachineProblem` gives a reason.
   */
  static ofOthers(folder: string): OwnMachine {
    const copy = join(folder, 'library.so');
    copyFileSync(builtLibrary(), copy);
    chmodSync(folder, 0o755);
    const control = join(folder, 'clocks');
    const machine = new OwnMachine(control, undefined, copy);
    chmodSync(control, 0o644);
    return machine;
  }

  /** `control`: path of a file that this makes. Throws if `ownMachineProblem` gives a reason. */
  constructor(control: string, route?: Route, path = builtLibrary()) {
    writeFileSync(control, Buffer.alloc(CONTROL_BYTES));
    this.#control = control;
    this.env = {
      LD_PRELOAD: path,
      SVC_MACHINE_CONTROL: control,
      ...(route === undefined
        ? {}
        : { SVC_MACHINE_PEERS: route.peers, SVC_MACHINE_ROUTE: route.to }),
    };
  }

  /** Sets the wall clock so far from the true time, in milliseconds; 0 heals it. */
  setWallClock(byMs: number): void {
    this.#write(0, byMs);
  }

  /** Takes back the advance of the monotonic clock while the process was stopped for at least so long, as if the machine had been suspended. */
  wasSuspended(forMs: number): void {
    this.#stoodStillMs += forMs;
    this.#write(MONOTONIC_OFFSET, -this.#stoodStillMs);
  }

  /** Writes in place: processes have the file mapped. */
  #write(offset: number, ms: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.floor(ms * NS_PER_MS)));
    const file = openSync(this.#control, 'r+');
    try {
      writeSync(file, bytes, 0, bytes.length, offset);
    } finally {
      closeSync(file);
    }
  }
}
