// UpgradeWorker is the code of a worker of an upgrade check: it folds the entities of its share with both modules,
// and sends the findings.
import { parentPort, workerData } from 'node:worker_threads';
import { startGuest } from '../hosting/start-guest.ts';
import { SvcError } from '@svc/kit/svc-error';
import { HistoryScan } from '../storage/sqlite/tools/history-scan.ts';
import { inspectJournal } from '../storage/sqlite/tools/journal-inspection.ts';
import { EntityComparison } from './entity-comparison.ts';
import { UpgradeFindings } from './upgrade-finding.ts';
import type { FromUpgradeWorker, UpgradeShare, UpgradeWork } from './upgrade-messages.ts';

/** Number of records after which progress is reported. */
const PROGRESS_RECORDS = 5_000;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromUpgradeWorker) => parentPort!.postMessage(message);
const { dir, now, before, settings } = workerData as UpgradeWork;
const findings = new UpgradeFindings();
let records = 0;

/** Sends the failure of `act` as a message, because an error that a thread throws loses its code. */
async function sendFailureOf(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    send({ kind: 'failed', code: error.code, message: error.message });
  }
}

/** Logs of the modules are discarded. */
const log = () => {};

async function openComparison(): Promise<EntityComparison> {
  return new EntityComparison({
    inspection: inspectJournal(dir),
    now: await startGuest(now, settings, log),
    before: before && (await startGuest(before, settings, log)),
    findings,
    foldedRecords(count) {
      records += count;
      if (records < PROGRESS_RECORDS) return;
      send({ kind: 'progress', records });
      records = 0;
    },
  });
}

/** Compares the entities of a share. Returns their number. */
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

await sendFailureOf(async () => {
  const comparison = await openComparison();
  const scan = new HistoryScan(dir);
  parentPort!.on('message', (share: UpgradeShare) => {
    void sendFailureOf(async () => {
      const entities = await compared(share, scan, comparison);
      send({ kind: 'done', records, entities, findings: findings.take() });
      records = 0;
    });
  });
  send({ kind: 'ready' });
});
