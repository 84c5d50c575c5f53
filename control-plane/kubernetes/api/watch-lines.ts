// WatchLines cuts the answer of a watch into its events, which are lines of JSON of bounded length.
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import { jsonObjectIn, KubeError, unexpected } from './kube-error.ts';
import type { JsonObject } from './kube-transport.ts';

const LINE_FEED = 0x0a;

/** Gives each event to `onEvent`. Rejects with KubeError for one that cannot be read, and resolves if the answer ends in between two. */
export async function readEvents(
  pieces: AsyncIterable<Buffer>,
  lineBytesMax: number,
  onEvent: (event: JsonObject) => void,
): Promise<void> {
  let begun = new GatheredBytes(lineBytesMax);
  for await (const piece of pieces) {
    let from = 0;
    for (let end; (end = piece.indexOf(LINE_FEED, from)) !== -1; from = end + 1) {
      begun.add(piece.subarray(from, end));
      checkLength(begun, lineBytesMax);
      const line = begun.whole.toString('utf8');
      begun = new GatheredBytes(lineBytesMax);
      if (line.trim() !== '') onEvent(eventIn(line));
    }
    begun.addCopy(piece.subarray(from));
    checkLength(begun, lineBytesMax);
  }
  if (begun.whole.length > 0)
    throw new KubeError('unreachable', 'a watch has ended in the middle of an event');
}

function checkLength({ whole }: GatheredBytes, lineBytesMax: number): void {
  if (whole.length > lineBytesMax)
    throw new KubeError('invalid', `an event of a watch is larger than ${lineBytesMax} bytes`);
}

function eventIn(line: string): JsonObject {
  const event = jsonObjectIn(line);
  if (event === undefined)
    throw new KubeError('invalid', `the API server answers a watch ${unexpected(line, undefined)}`);
  return event;
}
