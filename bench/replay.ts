// Measurement (m): how many events per second are folded when entities with a long history are loaded from the journal,
// without snapshots; compared with the same events folded by the same guest without a journal.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type EntityEngine } from '../host/engine/entity-engine.ts';
import type { Guest } from '@svc/model/guest';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { systemRandom, systemClock, systemDigest, systemEventLoop } from '../host/system.ts';
import { COMPONENT, EVENT, appendToAll, withJournal } from './filled-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';

const ENTITIES = 10;
/** Number of events of each entity; more than `purityRefoldEventsMax`, so that eviction folds no entity again. */
const EVENTS = 20_000;
/** Batch of events for the guest alone, as large as the largest batch of a replay. */
const BATCH = Array.from({ length: 1_000 }, () => EVENT);

export async function measureReplay({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const dir = join(folder, 'data');
  const guest = await createWasmGuest(readFileSync(module.file));
  const figures: { replayed: number; folded: number }[] = [];
  try {
    await withJournal(dir, (journal) => appendToAll(journal, ENTITIES, 0, EVENTS));
    await withJournal(dir, async (journal) => {
      const engine = createEngine({
        guest,
        journal,
        clock: systemClock,
        random: systemRandom(),
        digest: systemDigest,
        eventLoop: systemEventLoop,
        limits: { liveEntitiesMax: 1, snapshotIntervalEvents: 0 },
        faultLog: (_entity, _handler, fault) => {
          throw fault;
        },
      });
      await replayed(engine, warmUpSeconds);
      await foldedPerSecond(guest, warmUpSeconds);
      for (let round = 0; round < rounds; round++)
        figures.push({
          replayed: await replayed(engine, seconds),
          folded: await foldedPerSecond(guest, seconds),
        });
      await engine.close();
    });
  } finally {
    await guest.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
  return [
    {
      letter: 'm',
      what: `replay: events folded as entities of ${EVENTS.toLocaleString('en-US')} events come into memory from the journal`,
      svc: median(figures.map((figure) => figure.replayed)),
      beside: 'the guest alone, with nothing to read',
      other: median(figures.map((figure) => figure.folded)),
      unit: 'per second',
      ratio: median(figures.map((figure) => figure.replayed / figure.folded)),
      cores: '1',
    },
  ];
}

/** Returns the events folded per second. Each query loads another entity into memory, and evicts the previous one. */
async function replayed(engine: EntityEngine, seconds: number): Promise<number> {
  const startedMs = performance.now();
  let entities = 0;
  while (performance.now() < startedMs + seconds * 1000) {
    const id = `c${entities++ % ENTITIES}`;
    const answer = await engine.call({ component: COMPONENT, id }, 'get', 'null', []);
    if (answer.kind !== 'reply' || answer.json !== `{"value":${EVENTS}}`)
      throw new Error(`the counter answered ${JSON.stringify(answer)}`);
  }
  return (entities * EVENTS * 1000) / (performance.now() - startedMs);
}

/** Returns the events per second that the guest folds without an engine and a journal. */
export async function foldedPerSecond({ entities }: Guest, seconds: number): Promise<number> {
  const startedMs = performance.now();
  let events = 0;
  while (performance.now() < startedMs + seconds * 1000) {
    const entity = await entities.open({ component: COMPONENT, id: 'alone' }, undefined);
    for (let until = events + EVENTS; events < until; events += BATCH.length)
      await entity.apply(BATCH, undefined);
    entity.close();
  }
  return (events * 1000) / (performance.now() - startedMs);
}
