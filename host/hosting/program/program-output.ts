// ProgramOutput is what the program prints, on stdout or stderr, written to the stderr of the process at once. The streams of
// a thread are written by the main thread, which waits for this one: the last lines of a loop, or before the end, would be
// lost.
import { writeSync } from 'node:fs';

const STDERR = 2;
const RETRY_MS = 1;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** For the thread that calls it. */
export function printOnStderr(): void {
  for (const stream of [process.stdout, process.stderr]) stream.write = write;
}

function write(
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error) => void),
  done?: (error?: Error) => void,
): boolean {
  const text = typeof chunk === 'string' && typeof encoding === 'string';
  writeAll(text ? Buffer.from(chunk, encoding) : Buffer.from(chunk as string));
  const callback = typeof encoding === 'function' ? encoding : done;
  if (callback !== undefined) process.nextTick(callback);
  return true;
}

function writeAll(bytes: Uint8Array): void {
  for (let rest = bytes; rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(STDERR, rest));
    } catch (error) {
      // Nobody reads it any more.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(never, 0, 0, RETRY_MS);
    }
  }
}
