// A view that has stopped at a node, and whether another node has gone on with it.
import { expect, test } from 'vitest';
import type { RowsProgress } from '../../../host/engine/needs/views.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { goneOnElsewhere } from '../../../host/views/watched-view.ts';

const STOPPED = { revision: '7 0', after: '5' };

function rowsAt(position: string, revision = STOPPED.revision): RowsProgress {
  return { revision, foldedTo: { position, mark: undefined } };
}

const nothing = (): void => {};

function afterNoTime(_ms: number, call: () => void): () => void {
  call();
  return nothing;
}

/** Looks at what each entry says, and ends after them. Returns the result, and the number of looks. */
async function looked(...looks: readonly (RowsProgress | Error)[]) {
  const end = new AbortController();
  let count = 0;
  const progress = async () => {
    const look = looks[count++]!;
    if (count === looks.length) end.abort();
    if (look instanceof Error) throw look;
    return look;
  };
  const feed = new MemoryJournal().feed();
  return [await goneOnElsewhere(STOPPED, progress, feed, end.signal, afterNoTime), count];
}

test('another node has not gone on that folds events before the one at which the view has stopped', async () => {
  expect(await looked(rowsAt('1'), rowsAt('3'), rowsAt('4'))).toEqual([false, 3]);
});

test('another node has gone on that has skipped an event since the stop, also before the first look', async () => {
  expect(await looked(rowsAt('1'), rowsAt('1', '7 1'), rowsAt('1'))).toEqual([true, 2]);
  expect(await looked(rowsAt('1', '7 1'), rowsAt('1'))).toEqual([true, 1]);
});

test('another node has gone on that makes other rows', async () => {
  expect(await looked({ revision: '9 0', foldedTo: undefined }, rowsAt('1'))).toEqual([true, 1]);
});

test('another node has gone on that has folded the event', async () => {
  expect(await looked(rowsAt('4'), rowsAt('5'), rowsAt('6'))).toEqual([true, 2]);
});

test('a look that fails is repeated', async () => {
  expect(await looked(new Error('It does not answer.'), rowsAt('5'))).toEqual([true, 2]);
});
