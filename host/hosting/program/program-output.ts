// ProgramOutput writes what the program prints, on stdout or stderr, to the stderr of the process at once. Node
// writes the output of a worker thread in the main thread, which is waiting for this thread: lines that the program
// prints in an endless loop, or just before the thread ends, would be lost.
import { writeSync } from 'node:fs';

const STDERR = 2;
const RETRY_MS = 1;
/** Nobody notifies a change of this value, so waiting for one is a pause. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Makes stdout and stderr of the calling thread write to the stderr of the process. */
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
      // Any other error means that nobody reads stderr any more.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(never, 0, 0, RETRY_MS);
    }
  }
}
