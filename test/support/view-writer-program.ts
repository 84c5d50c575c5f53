// A program that writes the rows of a view until it is killed, and prints each position once it is stored. Each put writes
// the rows that `rowsAt` says, so that rows and position can be compared whenever the program ends.
import { type RowChange, type StoredView } from '../../host/engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT } from '../../model/view-limits.ts';
import { FileViews } from '../../host/storage/views/file-views.ts';
import { folded, indexOn, row, viewOf } from '../suites/view-store/views-under-test.ts';

export const WRITTEN_VIEW: StoredView = viewOf(indexOn(['n', 'integer']), indexOn(['t', 'text']));
const KEYS = 40;

/** The changes of the put with this number: every key but one is written, and that one is removed. */
function changesAt(position: number): readonly RowChange[] {
  return Array.from({ length: KEYS }, (_, at) =>
    at === position % KEYS
      ? { key: `k${at}`, json: undefined }
      : row(`k${at}`, { n: position, t: `t${(position * at) % 7}`, text: 'x'.repeat(200) }),
  );
}

/** The rows after the put with this number, by their keys. */
export function rowsAt(position: number): ReadonlyMap<string, string> {
  return new Map(
    changesAt(position).flatMap(({ key, json }) => (json === undefined ? [] : [[key, json]])),
  );
}

async function write(dir: string): Promise<void> {
  const writer = new FileViews(dir, VIEW_LIMITS_DEFAULT).openWriter(WRITTEN_VIEW);
  process.stdout.write(`begins at ${writer.foldedTo?.position ?? 0}\n`);
  let position = Number(writer.foldedTo?.position ?? 0);
  for (;;) {
    try {
      await writer.put(changesAt(position + 1), folded(position + 1));
      position++;
      if (position % 7 === 0 && (await writer.prepareIndexes(5))) await writer.goLive();
      process.stdout.write(`${position}\n`);
    } catch (error) {
      process.stdout.write(`${String((error as { readonly code?: unknown }).code)}\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

if (process.argv[1] === import.meta.filename) await write(process.argv[2]!);
