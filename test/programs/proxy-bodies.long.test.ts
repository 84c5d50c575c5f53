// The memory of the real proxy while large bodies pass through it, in both directions at once, to readers that are slow.
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { slowBodies } from '../support/web-pods/slow-bodies.ts';

const MIB = 1024 * 1024;

test('P17: large bodies both ways through TLS arrive unchanged, and memory does not grow with them', async () => {
  const bytes = 256 * MIB;
  const { beginRssBytes, mostRssBytes } = await slowBodies({
    folder: temporaryFolder(),
    bytes,
    bytesPerSecond: 16 * MIB,
    // Until then, the memory of a proxy that has just started grows with its work.
    settledBytes: bytes / 4,
  });
  // A quarter of what is under way. `npm run slow-bodies` measures it without other work on the machine.
  expect(mostRssBytes - beginRssBytes).toBeLessThan(bytes / 4);
});

test('bodies that break off end the measurement, and its proxy', async () => {
  const measuring = slowBodies({
    folder: temporaryFolder(),
    bytes: 64 * MIB,
    bytesPerSecond: MIB,
    onProgress: () => {
      throw new Error('that is enough');
    },
  });
  // Both bodies are under way then, and nothing is rejected without being handled.
  await expect(measuring).rejects.toThrow('that is enough');
});
