// The threads of the views of a module, in a test that stands for the service: with a journal on disk, and what they log.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type GuestSource, wasmSource } from '../../host/hosting/guest-source.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { VIEW_LIMITS_DEFAULT } from '../../model/view-limits.ts';
import { SECTION_DEFAULTS } from '../../host/service/section-settings.ts';
import { ViewThreads } from '../../host/service/view-threads.ts';
import { attachSqliteJournal } from '../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal, type SqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { FileViews } from '../../host/storage/views/file-views.ts';
import { SharedView } from '../../host/views/shared-view.ts';
import { declaredViews } from '../../host/views/view-definitions.ts';
import type { LogEntry } from '../../kit/log-entry.ts';
import { append } from '../suites/journal-suite.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { viewModule } from './view-module.ts';
import { within } from './within.ts';

export const VIEW = 'counters';
export const counter = (id: string) => ({ component: 'counter', id });
/** The fold of the module fails for ids of three characters. */
export const BAD = counter('bad');

export async function sourceOf(definition = '1'): Promise<GuestSource> {
  return wasmSource(admitModule(await viewModule(definition)), join(temporaryFolder(), 'm.wasm'));
}

export async function store(journal: SqliteJournal, id: string, count = 1): Promise<void> {
  const event = { manifest: 'counted', json: '{"type":"counted"}' };
  const records = Array.from({ length: count }, (_, at) => ({
    kind: 'event' as const,
    seq: at + 1,
    timeMs: 1_700_000_000_000,
    event,
  }));
  const attached = attachSqliteJournal(journal.connect());
  try {
    const failure = await append(attached, counter(id), ...records);
    if (failure !== undefined) throw failure;
  } finally {
    await attached.close();
  }
}

export class Threads {
  readonly logged: LogEntry[] = [];
  readonly dir: string;
  readonly threads: ViewThreads;
  readonly source: GuestSource;
  readonly shared: SharedView;

  constructor(journal: SqliteJournal, dir: string, source: GuestSource) {
    this.dir = dir;
    this.source = source;
    this.threads = new ViewThreads({
      connection: Promise.resolve(journal.followerConnection),
      hosting: { wasm: SECTION_DEFAULTS.wasm },
      limits: VIEW_LIMITS_DEFAULT,
      supervision: SECTION_DEFAULTS.supervisor,
      env: {},
      log: (entry) => this.logged.push(entry),
    });
    this.shared = new SharedView(this.threads.serve(source)![VIEW]);
  }

  async until(what: string, isReached: (view: SharedView) => boolean): Promise<void> {
    const shown = () => `${what}; the view is ${JSON.stringify(this.threads.report())}`;
    await within(60, shown, this.shared.reached(isReached, performance.now() + 60_000));
    if (!isReached(this.shared)) throw new Error(shown());
  }

  report() {
    return this.threads.report()[0]!;
  }

  keys(): readonly string[] {
    const { fingerprint, descriptor } = this.source;
    const [view] = declaredViews(descriptor, fingerprint);
    const reader = new FileViews(this.dir, VIEW_LIMITS_DEFAULT).reader(view!.folded.stored);
    try {
      const { plan } = view!.queries.get('all')!;
      const page = reader.find({ plan, parameters: {} }, 1_000);
      return (page as { rows: readonly { key: string }[] }).rows.map(({ key }) => key);
    } finally {
      reader.close();
    }
  }
}

export async function opened(dir = temporaryFolder()): Promise<SqliteJournal> {
  const journal = await openSqliteJournal(dir);
  onTestFinished(() => journal.close());
  return journal;
}

export function threadsOn(journal: SqliteJournal, dir: string, source: GuestSource): Threads {
  const threads = new Threads(journal, dir, source);
  onTestFinished(() => threads.threads.stop());
  return threads;
}
