// Measurement (k): the latency of a query of an entity that is not in memory, when many entities have a snapshot. All
// entities are in one journal; each query is for another entity, and few entities stay in memory.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../host/engine/entity-engine.ts';
import type { Journal } from '../host/engine/needs/journal.ts';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { systemRandom, systemClock, systemDigest, systemEventLoop } from '../host/system.ts';
import { COMPONENT, appendToAll, withJournal } from './filled-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';

/** Number of events of each entity; the snapshot is after the first half, and the second half is folded. */
const EVENTS = 6;
const SNAPSHOT_SEQ = 3;
/** Step between the numbers of two entities queried in a row: they are not queried in the order of their creation. */
const STRIDE = 7_919;
const LIVE_MAX = 1_000;

export async function measureActivation(
  { seconds, rounds }: Pace,
  entities: number,
): Promise<Measurement[]> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const dir = join(folder, 'data');
  const guest = await createWasmGuest(readFileSync(module.file));
  const fingerprint = guest.fingerprint!;
  try {
    await withJournal(dir, (journal) => fill(journal, entities, fingerprint));
    const figures: { p50: number; p99: number }[] = [];
    // The journal is opened again, so that its caches are empty.
    await withJournal(dir, async (journal) => {
      const engine = createEngine({
        guest,
        journal,
        clock: systemClock,
        random: systemRandom(),
        digest: systemDigest,
        eventLoop: systemEventLoop,
        limits: { liveEntitiesMax: LIVE_MAX },
        faultLog: (_entity, _handler, fault) => {
          throw fault;
        },
      });
      let turn = 0;
      for (let round = 0; round < rounds; round++) {
        const times: number[] = [];
        const untilMs = performance.now() + seconds * 1000;
        while (performance.now() < untilMs) {
          const id = `c${(turn++ * STRIDE) % entities}`;
          const sinceMs = performance.now();
          const answer = await engine.call({ component: COMPONENT, id }, 'get', 'null', []);
          times.push(performance.now() - sinceMs);
          if (answer.kind !== 'reply' || answer.json !== `{"value":${EVENTS}}`)
            throw new Error(`the counter answered ${JSON.stringify(answer)}`);
        }
        times.sort((a, b) => a - b);
        const at = (part: number) => times[Math.floor(times.length * part)]!;
        figures.push({ p50: at(0.5), p99: at(0.99) });
      }
      await engine.close();
    });
    const p50 = median(figures.map((figure) => figure.p50));
    return [
      {
        letter: 'k',
        what: `a query of an entity that comes into memory from its snapshot, p99, of ${entities.toLocaleString('en-US')}`,
        svc: median(figures.map((figure) => figure.p99)),
        beside: `p50: ${p50.toFixed(2)} ms; the aim is 2 ms`,
        other: undefined,
        unit: 'ms',
        ratio: undefined,
        cores: '1',
      },
    ];
  } finally {
    await guest.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

/** Appends the first event of all entities, then their second, and so on: the records of an entity are far apart. */
async function fill(journal: Journal, entities: number, fingerprint: string): Promise<void> {
  const keepSnapshots = (from: number, until: number): void => {
    for (let n = from; n < until; n++)
      journal.keepSnapshot(
        { component: COMPONENT, id: `c${n}` },
        { seq: SNAPSHOT_SEQ, fingerprint, state: `{"value":${SNAPSHOT_SEQ}}` },
      );
  };
  for (let seq = 1; seq <= EVENTS; seq++)
    await appendToAll(
      journal,
      entities,
      seq - 1,
      1,
      seq === SNAPSHOT_SEQ ? keepSnapshots : undefined,
    );
}
