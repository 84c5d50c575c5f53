// MemoryImage: the memory is restored byte for byte, whatever was written to it since.
import { expect, test } from 'vitest';
import { MemoryImage } from '../../../../../host/hosting/wasm/instances/memory-image.ts';

const PAGE = 65_536;

test.each([
  ['nothing', []],
  ['its first and its last byte', [0, 2 * PAGE - 1]],
  ['bytes around the edges of blocks', [1023, 1024, 2047, 4096, 5119, 5120]],
  ['every byte of the first page', Array.from({ length: PAGE }, (_, index) => index)],
  ['a byte here and there', Array.from({ length: 40 }, (_, index) => index * 3001)],
])('a memory that held %s is put back', (_what, offsets) => {
  const memory = new Uint8Array(2 * PAGE);
  for (const offset of offsets) memory[offset] = (offset % 255) + 1;
  const before = memory.slice();
  const image = new MemoryImage(memory);
  for (let turn = 1; turn < 3; turn++) {
    memory.fill(turn);
    image.restore(memory);
    expect(Buffer.compare(memory, before)).toBe(0);
  }
});

test('what a memory has grown by holds zeros', () => {
  const memory = new Uint8Array(PAGE);
  memory[PAGE - 1] = 1;
  const image = new MemoryImage(memory);
  const grown = new Uint8Array(2 * PAGE).fill(7);
  image.restore(grown);
  expect(Buffer.compare(grown.subarray(0, PAGE), memory)).toBe(0);
  expect(grown.subarray(PAGE).every((byte) => byte === 0)).toBe(true);
});

test('an empty memory has an image, too', () => {
  const image = new MemoryImage(new Uint8Array());
  expect(image.length).toBe(0);
  image.restore(new Uint8Array());
});
