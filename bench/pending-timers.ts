// Measurements (w) and (w2): the memory of a service whose journal has many pending timers, and the time until it answers,
// compared with a service whose journal has none.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { firstAnswerMs } from './cold-start.ts';
import { withJournal } from './filled-journal.ts';
import { residentMib } from './memory.ts';
import { firstRound, median, type Measurement, type Pace } from './report.ts';
import { benchModule, type Service, startSvc } from './service.ts';
import { setPending } from './timed-engine.ts';

/** Until the timers have been counted twice, in milliseconds; a trial does not wait for it. */
const SETTLE_MS = 5_000;
const MORE_MIB_AIM = 32;
const LATER_MS_AIM = 50;

export async function measurePendingTimers(
  wanted: ReadonlySet<string>,
  pace: Pace,
  pending: number,
): Promise<Measurement[]> {
  const module = await benchModule();
  try {
    const dirs = { many: join(module.folder, 'many'), none: join(module.folder, 'none') };
    await withJournal(dirs.many, (journal) => setPending(journal, pending));
    await withJournal(dirs.none, async () => {});
    const start = {
      many: starting(module.file, dirs.many),
      none: starting(module.file, dirs.none),
    };
    const what = `${pending.toLocaleString('en-US')} pending timers`;
    const cores = `${availableParallelism()} each`;
    const beside = 'a journal without timers';
    const measured: Measurement[] = [];
    if (wanted.has('w')) {
      const settleMs = pace.warmUpSeconds > 0 ? SETTLE_MS : 0;
      const [svc, other] = [
        await residentAfterStart(start.many, settleMs),
        await residentAfterStart(start.none, settleMs),
      ];
      measured.push({
        letter: 'w',
        what: `resident memory of \`svc run\` with ${what}; the aim is ${MORE_MIB_AIM} MiB more`,
        svc,
        beside,
        other,
        unit: 'MiB',
        ratio: svc / other,
        cores,
      });
    }
    if (wanted.has('w2')) {
      const figures: { many: number; none: number }[] = [];
      // The first start fills Node's cache of compiled sources.
      for (let round = firstRound(pace); round < pace.starts; round++) {
        const figure = {
          many: await firstAnswerMs(start.many),
          none: await firstAnswerMs(start.none),
        };
        if (round >= 0) figures.push(figure);
      }
      const [svc, other] = [
        median(figures.map(({ many }) => many)),
        median(figures.map(({ none }) => none)),
      ];
      measured.push({
        letter: 'w2',
        what: `start of \`svc run\` to the first answer with ${what}; the aim is ${LATER_MS_AIM} ms later`,
        svc,
        beside,
        other,
        unit: 'ms',
        ratio: svc / other,
        cores,
      });
    }
    return measured;
  } finally {
    module.remove();
  }
}

function starting(moduleFile: string, dir: string): () => Promise<Service> {
  return () => startSvc(moduleFile, dir);
}

async function residentAfterStart(
  start: () => Promise<Service>,
  settleMs: number,
): Promise<number> {
  const service = await start();
  try {
    await pause(settleMs);
    return residentMib(service.pid).now;
  } finally {
    await service.stop();
  }
}
