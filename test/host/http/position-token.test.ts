import { expect, test } from 'vitest';
import { atPosition, caughtUp, positionAfter, tokenOf } from '../../../host/http/position-token.ts';
import { SliceHeads } from '../../../host/storage/postgres/feed/slice-heads.ts';
import { SlicePositions } from '../../../host/storage/postgres/feed/slice-positions.ts';

/** The positions of a node whose database has these heads. The node knows none of them until it asks. */
function behind(stored: readonly (readonly [slice: number, head: number])[]) {
  const heads = new SliceHeads();
  return new SlicePositions(heads, async () => heads.advance(stored));
}

function endToken(heads: readonly (readonly [slice: number, head: number])[]): string {
  const all = new SliceHeads();
  all.advance(heads);
  return tokenOf(new SlicePositions(all).end());
}

test('a token of another node is one of the journal once the end has caught up', async () => {
  const positions = behind([[5, 3]]);
  const headers = [['svc-after', endToken([[5, 3]])]] as const;
  expect(positionAfter(headers, positions)).toBe(false);
  await caughtUp(headers, positions);
  expect(positionAfter(headers, positions)).toBe('5:3');
  expect(caughtUp(headers, positions)).toBeUndefined();
});

test('a token that is after everything stored is none of the journal', async () => {
  const positions = behind([[5, 3]]);
  const headers = [['svc-after', endToken([[5, 4]])]] as const;
  await caughtUp(headers, positions);
  expect(positionAfter(headers, positions)).toBe(false);
});

test.each(['', 'p1', 'p1-?', 'p2-5:3', 'x'])('nothing is asked for the text %j', (token) => {
  expect(caughtUp([['svc-after', token]], behind([]))).toBeUndefined();
});

test('nothing is asked without the header, and in a journal that nobody else writes', () => {
  expect(caughtUp([], behind([]))).toBeUndefined();
  const alone = new SlicePositions(new SliceHeads());
  expect(caughtUp([['svc-after', endToken([[5, 3]])]], alone)).toBeUndefined();
});

test('a response has one position, that of the runtime', () => {
  const { headers } = atPosition(
    {
      kind: 'response',
      status: 200,
      headers: [
        ['Svc-Position', 'of the module'],
        ['x-own', 'kept'],
      ],
      body: { kind: 'none' },
    },
    '5:3',
  );
  expect(headers).toEqual([
    ['x-own', 'kept'],
    ['svc-position', 'p1-5:3'],
  ]);
});
