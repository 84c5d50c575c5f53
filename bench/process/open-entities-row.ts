// Measurement (df): the memory of the runtime for an entity that its process has open: what engine and hosting hold of it, once it has
// carried out a command.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { EntityEngine } from '../../host/engine/entity-engine.ts';
import { withJournal } from '../filled-journal.ts';
import type { Measurement } from '../report.ts';
import { CART, cartEngine } from './cart-engine.ts';
import { withCartGuest } from './cart-guest.ts';
import { TYPESCRIPT } from './cart-languages.ts';

const OPEN_MAX = 100_000;
const IN_FLIGHT = 1_000;
const BYTES_PER_KIB = 1_024;
const AIM_KIB = 1;
const ITEM = '{"sku":"a","quantity":1}';

/** `entities`: at most 100,000 of them are opened. */
export async function measureOpenEntities(entities: number): Promise<Measurement> {
  const open = Math.min(entities, OPEN_MAX);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  let bytes = 0;
  try {
    await withJournal(join(folder, 'data'), (journal) =>
      withCartGuest(TYPESCRIPT, async (guest) => {
        const engine = cartEngine(guest, journal, { liveEntitiesMax: open + 1, idleTimeoutMs: 0 });
        const before = usedBytes();
        await openAll(engine, open);
        bytes = usedBytes() - before;
        await engine.close();
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    letter: 'df',
    what: `process: memory of the runtime's shard for each of ${open.toLocaleString('en-US')} open entities, after a garbage collection`,
    svc: bytes / open / BYTES_PER_KIB,
    beside: `the aim is ${AIM_KIB} KiB`,
    other: undefined,
    unit: 'KiB',
    ratio: undefined,
    cores: 'any',
  };
}

async function openAll(engine: EntityEngine, count: number): Promise<void> {
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
