// UpgradeCheck checks whether a new module or program can continue with what is in a journal. Threads fold shares of the
// entities, and the views. Their findings are merged here with the differences of the descriptors, and with the timers
// and events of consumers that nobody would carry out. The journal is only read, so a host may be running on it.
//
// Invariants
// U1  Memory does not grow with the journal: it holds a share of entities for each thread, a page of records for each
//     entity, and a bounded number of findings.
// U2  The answer does not depend on the number of threads, unless there are more subjects or faults than the limits of
//     UpgradeFindings and EntityComparison admit.
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { type ModuleDescriptor, parseModuleDescriptor } from '@svc/contract';
import {
  type GuestSource,
  type HostingSettings,
  type SourceWord,
  sourceWord,
} from '../hosting/guest-source.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/journal-inspection.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { lastWriter } from '../storage/journal-preview.ts';
import { inspectJournal } from '../storage/journal-reading.ts';
import { descriptorDifferences } from './descriptor-difference.ts';
import { findStrandedWork } from './stranded-work.ts';
import { UpgradeFindings, type Finding } from './upgrade-finding.ts';
import type { FromUpgradeWorker, UpgradeShare, UpgradeWork } from './upgrade-messages.ts';

/** Maximum number of entities in a share, which is the work that a thread is given at once. */
const SHARE_ENTITIES = 256;
/** A share ends with the entity with which it has at least this number of events. */
const SHARE_EVENTS = 20_000;

export interface UpgradeQuestion {
  readonly location: JournalLocation;
  readonly now: GuestSource;
  /**
   * The module that wrote the journal. Without it no states are compared, and the declarations are compared with
   * those of the last module that wrote, if the journal has its descriptor.
   */
  readonly before?: GuestSource | undefined;
  /** Settings under which both modules run. */
  readonly settings: HostingSettings;
  readonly threads: number;
  /** Aborts the check, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called repeatedly while the check runs. */
  readonly onProgress?: (progress: UpgradeProgress) => void;
}

export interface UpgradeProgress {
  /** Number of records that were folded, into states and once more for each view. */
  readonly records: number;
  /** An estimate: records of deletions are not counted beforehand, and a service may append more meanwhile. */
  readonly recordsTotal: number;
}

export interface UpgradeAnswer {
  readonly entities: number;
  /** Number of records, including deletions. */
  readonly records: number;
  readonly findings: readonly Finding[];
  /** The version that the new one was compared with: a module, a program, a process, a descriptor from the journal, or none. */
  readonly compared: SourceWord | 'descriptor' | 'nothing';
}

/** Rejects with SVC_JOURNAL_…, SVC_DATA_UNUSABLE, SVC_MODULE_START_FAILED, SVC_PROGRAM_INVALID and SVC_PROCESS_…. */
export async function checkUpgrade(question: UpgradeQuestion): Promise<UpgradeAnswer> {
  const { location, now, before, settings, threads, signal } = question;
  const inspection = inspectJournal(location);
  try {
    const components = await inspection.components();
    const findings = new UpgradeFindings();
    const declared = before?.descriptor ?? (await descriptorIn(location));
    if (declared !== undefined) {
      const stored = new Set(components.map(({ component }) => component));
      for (const finding of descriptorDifferences(declared, now.descriptor, stored))
        findings.merge(finding);
    }
    await findStrandedWork({ location, now: now.descriptor, before: declared, findings, signal });
    const views = (now.descriptor.views ?? []).map(({ id }) => id);
    const events = components.reduce((sum, { events: count }) => sum + count, 0);
    const total = events * (1 + views.length);
    const counts = { entities: 0, records: 0 };
    let folded = 0;
    const shares = sharesOf(
      inspection,
      components.map(({ component }) => component),
      views,
    );
    const work: UpgradeWork = { location, now, before, settings };
    await inThreads(work, { threads, signal }, shares, (message) => {
      counts.records += message.records;
      if (message.kind === 'done') {
        counts.entities += message.entities;
        for (const finding of message.findings) findings.merge(finding);
      }
      folded += message.records + message.viewRecords;
      question.onProgress?.({ records: folded, recordsTotal: Math.max(total, folded) });
    });
    return { ...counts, findings: findings.list(), compared: comparedWith(before, declared) };
  } finally {
    inspection.close();
  }
}

function comparedWith(
  before: GuestSource | undefined,
  declared: ModuleDescriptor | undefined,
): UpgradeAnswer['compared'] {
  if (before !== undefined) return sourceWord(before.kind);
  return declared === undefined ? 'nothing' : 'descriptor';
}

/** Returns the descriptor of the last module that wrote; undefined if the journal has none, or none that is intact. */
async function descriptorIn(location: JournalLocation): Promise<ModuleDescriptor | undefined> {
  const { descriptor: text } = await lastWriter(location);
  const parsed = text === undefined ? undefined : parseModuleDescriptor(text);
  return parsed?.ok === true ? parsed.descriptor : undefined;
}

/**
 * Yields the shares. First come the views, which take longest; then the entities, component by component, in the order of
 * their ids.
 */
async function* sharesOf(
  inspection: JournalInspection,
  components: readonly string[],
  views: readonly string[],
): AsyncGenerator<UpgradeShare> {
  for (const view of views) yield { kind: 'view', view };
  for (const component of components)
    for (let last = ''; ;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const page = await inspection.entities(component, last, SHARE_ENTITIES);
      let events = 0;
      let afterId = last;
      for (const { id, events: count } of page) {
        events += count;
        last = id;
        if (events < SHARE_EVENTS) continue;
        yield { kind: 'entities', component, afterId, lastId: id };
        events = 0;
        afterId = id;
      }
      if (afterId !== last) yield { kind: 'entities', component, afterId, lastId: last };
      if (page.length < SHARE_ENTITIES) break;
    }
}

type WorkerReport = Extract<FromUpgradeWorker, { readonly records: number }>;

/** Runs the threads. A thread that has finished a share is given the next one. The first failure ends all threads. */
async function inThreads(
  work: UpgradeWork,
  { threads, signal }: Pick<UpgradeQuestion, 'threads' | 'signal'>,
  shares: AsyncGenerator<UpgradeShare>,
  onReport: (message: WorkerReport) => void,
): Promise<void> {
  const hasProgram = [work.now, work.before].some((source) => source?.kind === 'program');
  const workers: Worker[] = [];
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal!.reason);
  try {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    const done = Promise.all(
      Array.from({ length: threads }, () => {
        const worker = new Worker(new URL('./upgrade-worker.ts', import.meta.url), {
          name: 'upgrade check',
          workerData: work,
          // A program may read the environment variables of the process, as in service. A module has no environment.
          env: hasProgram ? SHARE_ENV : {},
        });
        workers.push(worker);
        return untilDone(worker, shares, onReport);
      }),
    );
    await Promise.race([done, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function untilDone(
  worker: Worker,
  shares: AsyncGenerator<UpgradeShare>,
  onReport: (message: WorkerReport) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const next = async () => {
    const share = await shares.next();
    if (share.done === true) resolve();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    else worker.postMessage(share.value);
  };
  worker.on('message', (message: FromUpgradeWorker) => {
    try {
      if (message.kind === 'failed') throw new SvcError(message.code, message.message);
      if (message.kind !== 'ready') onReport(message);
      // Reading the next share from the journal may fail.
      if (message.kind !== 'progress') next().catch(reject);
    } catch (error) {
      reject(error);
    }
  });
  worker.on('error', reject);
  worker.on('exit', (code) =>
    reject(new Error(`a thread of the upgrade check ended with code ${code}`)),
  );
  return promise;
}
