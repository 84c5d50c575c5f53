// Measurements (bd) and (bd2): how long requests wait while instances replace one another on one data folder, through the gateway, with mutual TLS.
import { availableParallelism } from 'node:os';
import { installedCounter } from '../../test/support/installed-services.ts';
import { ServiceInstallation } from '../../test/support/service-installation.ts';
import { appendToAll, withJournal } from '../filled-journal.ts';
import { median, type Measurement, type Pace } from '../report.ts';

const POSTS_PER_SECOND = 300;
const TRIAL_POSTS_PER_SECOND = 20;
/** For each round of the benchmark. */
const REPLACEMENTS = 20;
/** On a journal that is full of events, in all. */
const REPLACEMENTS_OF_FULL = 100;
const EVENTS_OF_ENTITY = 100;
const AIM_MS = 500;

/** `events`: that are stored before, in (bd2). */
export async function measureReplacements(
  wanted: ReadonlySet<string>,
  { rounds, warmUpSeconds }: Pace,
  events: number,
): Promise<Measurement[]> {
  const isTrial = warmUpSeconds === 0;
  const measurements: Measurement[] = [];
  for (const [letter, replacements, stored] of [
    ['bd', REPLACEMENTS * rounds, 0],
    ['bd2', REPLACEMENTS_OF_FULL, events],
  ] as const) {
    const measured = { letter, replacements: isTrial ? 1 : replacements, stored, isTrial };
    if (wanted.has(letter)) measurements.push(await measure(measured));
  }
  return measurements;
}

interface Measured {
  readonly letter: string;
  readonly replacements: number;
  /** Number of events that are stored before. */
  readonly stored: number;
  readonly isTrial: boolean;
}

async function measure({ letter, replacements, stored, isTrial }: Measured): Promise<Measurement> {
  const entities = stored / EVENTS_OF_ENTITY;
  const installation = await ServiceInstallation.open(installedCounter, {
    fill: async (folder) => {
      if (stored === 0) return;
      await withJournal(folder, (journal) => appendToAll(journal, entities, 0, EVENTS_OF_ENTITY));
    },
  });
  try {
    const perSecond = isTrial ? TRIAL_POSTS_PER_SECOND : POSTS_PER_SECOND;
    const posts = installation.posts(perSecond);
    const longestMs: number[] = [];
    for (let count = 0; count < replacements; count++) {
      const answered = posts.tookMs.length;
      await installation.replace();
      longestMs.push(Math.max(0, ...posts.tookMs.slice(answered)));
    }
    await posts.stop();
    if (posts.failures.length > 0)
      throw new Error(`${posts.failures.length} of ${posts.sent} failed: ${posts.failures[0]}`);
    const journal = stored === 0 ? '' : ` with ${stored.toLocaleString('en')} events`;
    return {
      letter,
      what: `platform: longest answer over ${replacements} replacements on one data folder${journal} at ${perSecond} POST/s, of which none fails; the aim is ${AIM_MS} ms`,
      svc: longestMs.reduce((one, other) => Math.max(one, other), 0),
      beside: `median of the longest of each replacement: ${Math.round(median(longestMs))} ms; median of all: ${median(posts.tookMs).toFixed(1)} ms`,
      other: undefined,
      unit: 'ms',
      ratio: undefined,
      cores: `all ${availableParallelism()}`,
    };
  } finally {
    await installation.close();
  }
}
