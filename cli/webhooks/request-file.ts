// RequestFile: the body of a request, as JSON in a file or on stdin.
import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { BODY_BYTES_MAX } from '@svc/client';
import { UsageError } from '../usage-error.ts';

/** Reads a file; `-` is stdin. Rejects with UsageError if it is no JSON, or larger than a request may be. */
export async function readRequestFile(command: string, path: string): Promise<unknown> {
  const name = path === '-' ? 'stdin' : path;
  const found = await textOf(command, path, name);
  try {
    return JSON.parse(found) as unknown;
  } catch (error) {
    throw new UsageError(`${command} found no JSON in ${name}: ${(error as Error).message}.`);
  }
}

async function textOf(command: string, path: string, name: string): Promise<string> {
  const found = await text(bounded(path)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${command} cannot read ${name} (${error.code ?? error.message}).`);
  });
  if (Buffer.byteLength(found) <= BODY_BYTES_MAX) return found;
  throw new UsageError(`${command} found more than ${BODY_BYTES_MAX} bytes in ${name}.`);
}

/** One byte more than may be there, so that what is too large is seen and not cut. */
async function* bounded(path: string): AsyncGenerator<Buffer> {
  const stream = path === '-' ? process.stdin : createReadStream(path);
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    yield part;
    if (bytes > BODY_BYTES_MAX) return;
  }
}
