// Measurements (dd) and (dd2): how many events per second the cart folds as entities with a long history come into memory from the
// journal, without snapshots: in a process of its own, and embedded.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedGuest } from '@svc/components/embedded-guest';
import type { Guest } from '@svc/model/guest';
import type { Journal } from '../../host/engine/needs/journal.ts';
import { appendEvents, withJournal } from '../filled-journal.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { CART_COMPONENTS } from './cart.ts';
import { CART, cartEngine, ITEM_ADDED } from './cart-engine.ts';
import { withCartGuest } from './cart-guest.ts';
import type { CartLanguage } from './cart-languages.ts';

const ENTITIES = 10;
/** Number of events of each entity; more than `purityRefoldEventsMax`, so that eviction folds no entity again. */
const EVENTS = 20_000;
/** One entity at a time, and each of them from its first event. */
const LIMITS = { liveEntitiesMax: 1, snapshotIntervalEvents: 0 };

export async function measureFolds(
  wanted: ReadonlySet<string>,
  pace: Pace,
  languages: readonly CartLanguage[],
): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const dir = join(folder, 'data');
  const measurements: Measurement[] = [];
  try {
    await withJournal(dir, async (journal) => {
      const kind = { component: CART, event: ITEM_ADDED };
      for (let index = 0; index < ENTITIES; index++)
        await appendEvents(journal, `c${index}`, 0, EVENTS, kind);
    });
    for (const language of languages)
      if (wanted.has(`dd${language.suffix}`))
        await withJournal(dir, async (journal) => {
          measurements.push(await measureLanguage(language, journal, pace));
        });
    return measurements;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureLanguage(
  language: CartLanguage,
  journal: Journal,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement> {
  const embedded = createEmbeddedGuest(CART_COMPONENTS);
  const figures: { hosted: number; embedded: number }[] = [];
  await withCartGuest(language, async (hosted) => {
    for (const guest of [hosted, embedded]) await replayed(guest, journal, warmUpSeconds);
    for (let round = 0; round < rounds; round++)
      figures.push({
        hosted: await replayed(hosted, journal, seconds),
        embedded: await replayed(embedded, journal, seconds),
      });
  });
  await embedded.close();
  return {
    letter: `dd${language.suffix}`,
    what: `process in ${language.name}: events folded as entities of ${EVENTS.toLocaleString('en-US')} events come into memory from the journal`,
    svc: median(figures.map((figure) => figure.hosted)),
    beside: 'the same cart embedded',
    other: median(figures.map((figure) => figure.embedded)),
    unit: 'per second',
    ratio: median(figures.map((figure) => figure.hosted / figure.embedded)),
    cores: `all ${availableParallelism()} a side`,
  };
}

/** Returns the events folded per second. Each query loads another entity into memory, and evicts the previous one. */
async function replayed(guest: Guest, journal: Journal, seconds: number): Promise<number> {
  const engine = cartEngine(guest, journal, LIMITS);
  const startedMs = performance.now();
  let entities = 0;
  while (performance.now() < startedMs + seconds * 1_000) {
    const id = `c${entities++ % ENTITIES}`;
    const answer = await engine.call({ component: CART, id }, 'get', 'null', []);
    if (answer.kind !== 'reply' || !answer.json.includes(`"quantity":${EVENTS}`))
      throw new Error(`the cart answered ${JSON.stringify(answer)}`);
  }
  const perSecond = (entities * EVENTS * 1_000) / (performance.now() - startedMs);
  await engine.close();
  return perSecond;
}
