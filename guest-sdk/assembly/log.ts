// The log: lines that wait until the runtime takes them. Their layout in memory is the WIT's list<log-line>, so that
// taking them works after a trap, and allocates nothing but the line that counts dropped lines, if there are any.
import { wellFormed } from "./host";

export const LEVEL_DEBUG: u8 = 0;
export const LEVEL_INFO: u8 = 1;
export const LEVEL_WARN: u8 = 2;
export const LEVEL_ERROR: u8 = 3;

const LINE_BYTES: i32 = 12;
const LINES_MAX: i32 = 1000;

let lines: ArrayBuffer = new ArrayBuffer(8 * LINE_BYTES);
let count: i32 = 0;
let dropped: i32 = 0;
// References to the strings, because a pointer in `lines` does not keep a string alive.
const messages: string[] = [];

export namespace log {
  export function add(level: u8, message: string): void {
    if (count >= LINES_MAX) {
      ++dropped;
      return;
    }
    put(level, message);
  }

  /** Adds the module's abort message, which is never dropped. */
  export function addLast(message: string): void {
    if (count > LINES_MAX) return;
    if (dropped > 0) put(LEVEL_WARN, dropped.toString() + " lines of the log were dropped");
    dropped = 0;
    put(LEVEL_ERROR, message);
  }

  /** Writes the address and the number of the lines, which stay unchanged until the next line is added. */
  export function take(pair: usize): void {
    if (dropped > 0) {
      put(LEVEL_WARN, dropped.toString() + " lines of the log were dropped");
      dropped = 0;
    }
    store<usize>(pair, changetype<usize>(lines));
    store<usize>(pair + 4, count);
    count = 0;
  }

  /** Removes the lines that were taken, after the host has read them. */
  export function release(): void {
    if (count == 0) messages.length = 0;
  }
}

function put(level: u8, text: string): void {
  const message = wellFormed(text);
  const offset = count * LINE_BYTES;
  if (offset >= lines.byteLength) {
    const grown = new ArrayBuffer(offset << 1);
    memory.copy(changetype<usize>(grown), changetype<usize>(lines), offset);
    lines = grown;
  }
  const line = changetype<usize>(lines) + offset;
  store<u8>(line, level);
  store<usize>(line + 4, changetype<usize>(message));
  store<usize>(line + 8, message.length);
  messages.push(message);
  ++count;
}
