// UpgradeWorker is the code of a worker of an upgrade check: it folds the entities or the view of its share with both
// modules, and sends the findings.
import { parentPort, workerData } from 'node:worker_threads';
import type { GuestSource } from '../hosting/guest-source.ts';
import { startGuest } from '../hosting/start-guest.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { HistoryScan } from '../storage/journal-inspection.ts';
import { inspectJournal, scanHistories } from '../storage/journal-reading.ts';
import { EntityComparison } from './entity-comparison.ts';
import { UpgradeFindings } from './upgrade-finding.ts';
import type {
  EntityShare,
  FoldedRecords,
  FromUpgradeWorker,
  UpgradeShare,
  UpgradeWork,
} from './upgrade-messages.ts';
import { type ComparedSource, ViewComparison } from './view-comparison.ts';

/** Number of records after which progress is reported. */
const PROGRESS_RECORDS = 5_000;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromUpgradeWorker) => parentPort!.postMessage(message);
const { location, now, before, settings } = workerData as UpgradeWork;
const findings = new UpgradeFindings();
let unreported: FoldedRecords = { records: 0, viewRecords: 0 };

function folded(records: number, viewRecords: number): void {
  unreported = {
    records: unreported.records + records,
    viewRecords: unreported.viewRecords + viewRecords,
  };
  if (unreported.records + unreported.viewRecords < PROGRESS_RECORDS) return;
  send({ kind: 'progress', ...reported() });
}

/** Returns the numbers since the last report. */
function reported(): FoldedRecords {
  const numbers = unreported;
  unreported = { records: 0, viewRecords: 0 };
  return numbers;
}

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

async function started(source: GuestSource): Promise<ComparedSource> {
  const { descriptor, fingerprint } = source;
  return { descriptor, fingerprint, guest: await startGuest(source, settings, log) };
}

/** Compares the entities of a share. Returns their number. */
async function compared(
  { component, afterId, lastId }: EntityShare,
  scan: HistoryScan,
  comparison: EntityComparison,
): Promise<number> {
  let entities = 0;
  for (let after = afterId; after !== lastId;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await scan.page(component, after, lastId);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const history of page) await comparison.compare(component, history);
    entities += page.length;
    after = last.id;
  }
  return entities;
}

await sendFailureOf(async () => {
  const sources = { now: await started(now), before: before && (await started(before)) };
  const comparison = new EntityComparison({
    inspection: inspectJournal(location),
    now: sources.now.guest,
    before: sources.before?.guest,
    findings,
    foldedRecords: (count) => folded(count, 0),
  });
  const views = new ViewComparison({
    location,
    ...sources,
    findings,
    foldedRecords: (count) => folded(0, count),
  });
  const scan = scanHistories(location);
  parentPort!.on('message', (share: UpgradeShare) => {
    void sendFailureOf(async () => {
      let entities = 0;
      if (share.kind === 'entities') entities = await compared(share, scan, comparison);
      else await views.compare(share.view);
      send({ kind: 'done', ...reported(), entities, findings: findings.take() });
    });
  });
  send({ kind: 'ready' });
});
