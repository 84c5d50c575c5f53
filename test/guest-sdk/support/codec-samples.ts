// CodecSamples: a value for the fixture's class `Everything`, and numbers to vary it with.

export const EVERYTHING = {
  flag: true,
  text: 'é',
  item: { sku: 's', quantity: 2 },
  maybeItem: null,
  maybeText: null,
  names: ['a', 'b'],
  grid: [[1, 2], [], [3]],
  flags: [true, false],
  counts: { a: 1, 'b c': -2 },
  byName: { x: { sku: 'y', quantity: 3 } },
  page: { items: [{ sku: 'p', quantity: 1 }], total: 1 },
  shape: { type: 'group', name: 'g', shapes: [{ type: 'square', name: 'q', side: 0.5 }] },
  circle: { type: 'circle', name: 'c', radius: 1.25 },
  at: '2026-02-28T23:59:59.120Z',
  maybeAt: null,
  note: 'n',
  limit: 1,
  tags: [],
  fixed: 9,
};

/** Creates a deterministic generator: the same seed gives the same numbers below 2^32. */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
    value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
    return (value ^ (value >>> 15)) >>> 0;
  };
}
