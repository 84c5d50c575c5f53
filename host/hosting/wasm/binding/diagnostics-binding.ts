// The module's export `diagnostics.take-log` fetches the lines that a call left, for the log. The bytes that
// the host reads are bounded, and the module pays for them before they are read: many lines may point at the
// same text.
import type { CoreExports } from '../binary/core-interface.ts';
import type { GuestLogLevel, GuestLogLine } from '@svc/model/guest-log';
import type { GuestMemory } from './guest-memory.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Instance whose log is read. */
export interface Logging {
  readonly exports: CoreExports;
  readonly memory: GuestMemory;
  readonly limits: WasmLimits;
  /** Throws a GuestFault when the module's fuel does not suffice. */
  pay(bytes: number): void;
}

const LEVELS: readonly GuestLogLevel[] = ['debug', 'info', 'warn', 'error'];
/** Size of `log-line`, aligned to 4: level 0, message 4. */
const LINE_SIZE = 12;
/** Maximum bytes of a message that are read. */
const MESSAGE_BYTES_MAX = 16 * 1024;
/** Cost of a line in addition to its text, in bytes. */
const LINE_BYTES = 64;
const NO_LINES: readonly GuestLogLine[] = [];

/**
 * Returns the lines since the last call, oldest first. Beyond the limits the oldest are dropped, and the first line
 * says how many.
 */
export function takeLog(instance: Logging, source: string): readonly GuestLogLine[] {
  const { exports } = instance;
  const result = exports.takeLog();
  const lines = linesAt(instance, result, source);
  exports.takeLogPost?.(result);
  return lines;
}

/**
 * Reads the log of an instance that is never called again. The instance need not free the lines, and may fail to if
 * it is half initialised.
 */
export function takeLastLog(instance: Logging, source: string): readonly GuestLogLine[] {
  return linesAt(instance, instance.exports.takeLog(), source);
}

function linesAt(instance: Logging, result: number, source: string): readonly GuestLogLine[] {
  const { memory } = instance;
  const header = memory.record(result, 8, 4);
  const count = memory.u32(header + 4);
  return count === 0 ? NO_LINES : liftLines(instance, header, count, source);
}

function liftLines(
  instance: Logging,
  header: number,
  count: number,
  source: string,
): readonly GuestLogLine[] {
  const { memory } = instance;
  const start = memory.record(memory.u32(header), count * LINE_SIZE, 4);
  const end = start + count * LINE_SIZE;
  const first = firstKept(instance, start, end);
  const dropped = (first - start) / LINE_SIZE;
  const lines: GuestLogLine[] = [];
  if (dropped > 0)
    lines.push({ level: 'warn', message: `${dropped} lines were dropped here`, source });
  for (let address = first; address < end; address += LINE_SIZE) {
    const level = LEVELS[memory.tag(address, LEVELS.length)]!;
    const message = memory.looseString(
      memory.u32(address + 4),
      memory.u32(address + 8),
      MESSAGE_BYTES_MAX,
    );
    lines.push({ level, message, source });
  }
  return lines;
}

/** Pays for all lines that are kept, and returns the address of the oldest of them. */
function firstKept(instance: Logging, start: number, end: number): number {
  const { memory, limits } = instance;
  const oldest = Math.max(start, end - limits.logLinesMax * LINE_SIZE);
  let kept = end;
  let bytes = 0;
  while (kept > oldest) {
    const textBytes = memory.stringBytes(memory.u32(kept - LINE_SIZE + 8));
    const more = Math.min(textBytes, MESSAGE_BYTES_MAX) + LINE_BYTES;
    if (bytes + more > limits.logBytesMax) break;
    bytes += more;
    kept -= LINE_SIZE;
  }
  instance.pay(bytes);
  return kept;
}
