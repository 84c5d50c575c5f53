// FaultDisk: a folder whose disk fails when the test says so, for a process that is started with its
// environment. The library that does it is fault-disk.c.
import { closeSync, openSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { preloadedLibrary } from '../preloaded-library.ts';

const CONTROL_BYTES = 128;
const SUFFIX_OFFSET = 64;
const MODES = { EIO: 1, ENOSPC: 2, stop: 3, tear: 4, slow: 5, after: 6 } as const;
const KINDS = { write: 1, sync: 2, truncate: 4, rename: 8, unlink: 16, change: 63 } as const;
/** All but making files and folders, which never fails. */
const FAILING_KINDS = 31;

export interface Fault {
  /**
   * `stop`: the process is killed before it is done. `after`: it is killed once it is done. `tear`: half of the write is done, then the
   * process is killed. `slow`: it is done after `delayMs`.
   */
  readonly mode: keyof typeof MODES;
  /** What is counted. `change`: everything, also making files and folders, at which `stop` and `after` alone have an effect. Everything else, when it is left away. */
  readonly kind?: keyof typeof KINDS;
  /** Only files whose names end so are counted. */
  readonly suffix?: string;
  /** The first that fails, counted from 1. */
  readonly first: number;
  /** The last that fails; the first alone when it is left away. */
  readonly last?: number;
  /** Below a second. */
  readonly delayMs?: number;
}

const library = preloadedLibrary(join(import.meta.dirname, 'fault-disk.c'));

/** Why there is no such disk on this system, and its tests are left out; undefined when there is. */
export function faultDiskProblem(): string | undefined {
  return library().problem;
}

/** The file through which a disk is told to fail, by the test or by the process itself. */
export class FaultControl {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** From now on; what was counted before is forgotten. */
  fail({ mode, kind, suffix = '', first, last = first, delayMs = 0 }: Fault): void {
    this.heal();
    const text = Buffer.alloc(CONTROL_BYTES - SUFFIX_OFFSET);
    text.write(suffix);
    this.#write(SUFFIX_OFFSET, text);
    this.#write(
      8,
      int64s(kind === undefined ? FAILING_KINDS : KINDS[kind], first, last, 0, 0, delayMs * 1_000),
    );
    this.#write(0, int64s(MODES[mode]));
  }

  /** Nothing fails any more. */
  heal(): void {
    this.#write(0, int64s(0));
  }

  /** How many operations were counted since `fail`, and how many of them failed. */
  counts(): { readonly seen: number; readonly hit: number } {
    const bytes = readFileSync(this.#path);
    return { seen: Number(bytes.readBigInt64LE(32)), hit: Number(bytes.readBigInt64LE(40)) };
  }

  /** In place: the library has the file mapped. */
  #write(offset: number, bytes: Buffer): void {
    const file = openSync(this.#path, 'r+');
    try {
      writeSync(file, bytes, 0, bytes.length, offset);
    } finally {
      closeSync(file);
    }
  }
}

export class FaultDisk {
  /** What the process is to have in its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly control: FaultControl;
  readonly controlPath: string;
  /** Where everything that changes in the folder is written down, in order. */
  readonly tracePath: string;

  /** `folder` exists. `beside`: another folder, for what the library needs. */
  constructor(folder: string, beside: string, options: { readonly traced?: boolean } = {}) {
    const { path, problem } = library();
    if (path === undefined) throw new Error(problem);
    this.controlPath = join(beside, 'fault-control');
    this.tracePath = join(beside, 'fault-trace');
    writeFileSync(this.controlPath, Buffer.alloc(CONTROL_BYTES));
    this.control = new FaultControl(this.controlPath);
    this.env = {
      LD_PRELOAD: path,
      SVC_FAULT_FOLDER: realpathSync(folder),
      SVC_FAULT_CONTROL: this.controlPath,
      ...(options.traced === true ? { SVC_FAULT_TRACE: this.tracePath } : {}),
    };
  }
}

function int64s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), index * 8);
  return bytes;
}
