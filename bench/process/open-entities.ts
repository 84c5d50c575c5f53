// OpenEntities: the program of measurement (df). It opens entities whose process is another one, and prints the bytes of memory that
// they take. It measures nothing else, because garbage of another measurement would be collected meanwhile and be subtracted.
//
// Usage: node bench/process/open-entities.ts COUNT
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { EntityEngine } from '../../host/engine/entity-engine.ts';
import { withJournal } from '../filled-journal.ts';
import { CART, cartEngine } from './cart-engine.ts';
import { withCartGuest } from './cart-guest.ts';
import { TYPESCRIPT } from './cart-languages.ts';

const IN_FLIGHT = 1_000;
const ITEM = '{"sku":"a","quantity":1}';

const count = Number(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  await withJournal(join(folder, 'data'), (journal) =>
    withCartGuest(TYPESCRIPT, async (guest) => {
      const engine = cartEngine(guest, journal, { liveEntitiesMax: count + 1, idleTimeoutMs: 0 });
      const before = usedBytes();
      await openAll(engine);
      process.stdout.write(`${usedBytes() - before}\n`);
      await engine.close();
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function openAll(engine: EntityEngine): Promise<void> {
  for (let from = 0; from < count; from += IN_FLIGHT) {
    const until = Math.min(count, from + IN_FLIGHT);
    const calls = Array.from({ length: until - from }, async (_, index) => {
      const target = { component: CART, id: `c${from + index}` };
      const { kind } = await engine.call(target, 'add-item', ITEM, []);
      if (kind !== 'reply') throw new Error(`the cart answered with a ${kind}`);
    });
    await Promise.all(calls);
  }
}

/** Returns the memory of this thread that is in use, after a garbage collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
