// The module's export `diagnostics.take-log`: fetches the lines that a call left, for the log.
import type { CoreExports } from './core-interface.ts';
import type { GuestLogLevel, GuestLogLine } from './guest-log.ts';
import type { GuestMemory } from './guest-memory.ts';

const LEVELS: readonly GuestLogLevel[] = ['debug', 'info', 'warn', 'error'];
/** Size of `log-line`, aligned to 4: level 0, message 4. */
const LINE_SIZE = 12;
/** Bytes of a message that are read. */
const MESSAGE_BYTES_MAX = 16 * 1024;
const NO_LINES: readonly GuestLogLine[] = [];

/** The lines since the last call, oldest first; beyond `linesMax` the oldest are dropped. */
export function takeLog(
  exports: CoreExports,
  memory: GuestMemory,
  linesMax: number,
  source: string,
): readonly GuestLogLine[] {
  const result = exports.takeLog();
  const header = memory.record(result, 8, 4);
  const count = memory.u32(header + 4);
  const lines = count === 0 ? NO_LINES : liftLines(memory, header, count, linesMax, source);
  exports.takeLogPost?.(result);
  return lines;
}

function liftLines(
  memory: GuestMemory,
  header: number,
  count: number,
  linesMax: number,
  source: string,
): readonly GuestLogLine[] {
  const dropped = Math.max(0, count - linesMax);
  const first = memory.record(memory.u32(header), count * LINE_SIZE, 4);
  const lines: GuestLogLine[] = [];
  if (dropped > 0)
    lines.push({ level: 'warn', message: `${dropped} lines were dropped here`, source });
  for (let index = dropped; index < count; index++) {
    const address = first + index * LINE_SIZE;
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
