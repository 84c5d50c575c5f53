// What a thread of an upgrade check runs: it folds the entities that it is given with both modules, and
// answers what was found.
import { parentPort, workerData } from 'node:worker_threads';
import { startGuest } from '../hosting/start-guest.ts';
import { SvcError } from '@svc/kit/svc-error';
import { HistoryScan } from '../storage/sqlite/tools/history-scan.ts';
import { inspectJournal } from '../storage/sqlite/tools/journal-inspection.ts';
import { EntityComparison } from './entity-comparison.ts';
import { UpgradeFindings } from './upgrade-finding.ts';
import type { FromUpgradeWorker, UpgradeShare, UpgradeWork } from './upgrade-messages.ts';

/** So many records are told of at once. */
const TOLD_RECORDS = 5_000;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromUpgradeWorker) => parentPort!.postMessage(message);
const { dir, now, before, settings } = workerData as UpgradeWork;
const findings = new UpgradeFindings();
let records = 0;

/** What it fails with is told: a thread's own error has no code. */
async function told(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    tell({ kind: 'failed', code: error.code, message: error.message });
  }
}

/** What modules write to their logs concerns nobody here. */
const log = () => {};

async function begun(): Promise<EntityComparison> {
  return new EntityComparison({
    inspection: inspectJournal(dir),
    now: await startGuest(now, settings, log),
    before: before && (await startGuest(before, settings, log)),
    findings,
    foldedRecords(count) {
      records += count;
      if (records < TOLD_RECORDS) return;
      tell({ kind: 'progress', records });
      records = 0;
    },
  });
}

/** Answers how many entities there were. */
async function compared(
  { component, afterId, lastId }: UpgradeShare,
  scan: HistoryScan,
  comparison: EntityComparison,
): Promise<number> {
  let entities = 0;
  for (let after = afterId; after !== lastId;) {
    const page = scan.page(component, after, lastId);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const history of page) await comparison.compare(component, history);
    entities += page.length;
    after = last.id;
  }
  return entities;
}

await told(async () => {
  const comparison = await begun();
  const scan = new HistoryScan(dir);
  parentPort!.on('message', (share: UpgradeShare) => {
    void told(async () => {
      const entities = await compared(share, scan, comparison);
      tell({ kind: 'done', records, entities, findings: findings.take() });
      records = 0;
    });
  });
  tell({ kind: 'ready' });
});
