// The threads of a module's views, with a real journal and a real module, and what operators change.
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GuestSource } from '../../../host/hosting/guest-source.ts';
import { wasmSource } from '../../../host/hosting/guest-source.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../host/model/view-limits.ts';
import { SECTION_DEFAULTS } from '../../../host/service/section-settings.ts';
import { ViewThreads } from '../../../host/service/view-threads.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import {
  openSqliteJournal,
  type SqliteJournal,
} from '../../../host/storage/sqlite/sqlite-journal.ts';
import { FileViews } from '../../../host/storage/views/file-views.ts';
import { SharedView } from '../../../host/views/shared-view.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { append } from '../../suites/journal-suite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { viewModule } from '../../support/view-module.ts';
import { within } from '../../support/within.ts';

const VIEW = 'counters';
const counter = (id: string) => ({ component: 'counter', id });
/** The fold of the module fails for ids of three characters. */
const BAD = counter('bad');

async function sourceOf(definition = '1'): Promise<GuestSource> {
  return wasmSource(admitModule(await viewModule(definition)), join(temporaryFolder(), 'm.wasm'));
}

async function store(journal: SqliteJournal, id: string, count = 1): Promise<void> {
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

class Threads {
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
    await within(60, shown, this.shared.reached(isReached, 60_000));
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

async function opened(dir = temporaryFolder()): Promise<SqliteJournal> {
  const journal = await openSqliteJournal(dir);
  onTestFinished(() => journal.close());
  return journal;
}

function threadsOn(journal: SqliteJournal, dir: string, source: GuestSource): Threads {
  const threads = new Threads(journal, dir, source);
  onTestFinished(() => threads.threads.stop());
  return threads;
}

describe('a view that has stopped', () => {
  test('goes on when the event was skipped, after a restart, too, and not with another definition', async () => {
    const dir = temporaryFolder();
    const journal = await opened(dir);
    await store(journal, 'a');
    await store(journal, BAD.id, 2);
    await store(journal, 'b');
    const source = await sourceOf();
    const first = threadsOn(journal, dir, source);
    await first.until('stopped', ({ state }) => state === 'stopped');
    const at = { entity: BAD, seq: 1 };
    const problem = { kind: 'stopped', at, reason: expect.stringContaining('unreachable') };
    await expect.poll(() => first.report()).toMatchObject({ id: VIEW, state: 'stopped', problem });

    expect(await first.threads.skip('other', at, 'why')).toBe('unknown-view');
    expect(await first.threads.skip(VIEW, { entity: BAD, seq: 2 }, 'why')).toBe(
      'not-stopped-there',
    );
    expect(await first.threads.skip(VIEW, { entity: counter('a'), seq: 1 }, 'why')).toBe(
      'not-stopped-there',
    );
    const startedMs = Date.now();
    const outcomes = [first.threads.skip(VIEW, at, 'seen'), first.threads.skip(VIEW, at, 'twice')];
    expect(await Promise.all(outcomes)).toEqual(['done', 'not-stopped-there']);
    await expect.poll(() => first.report().problem).toMatchObject({ at: { entity: BAD, seq: 2 } });
    expect(await first.threads.skip(VIEW, { entity: BAD, seq: 2 }, 'also seen')).toBe('done');
    await first.until('live', ({ state }) => state === 'live');
    await expect.poll(() => first.report().problem).toBeUndefined();
    expect(first.keys()).toEqual(['a', 'b']);
    const { skips } = first.report();
    expect(skips).toEqual([
      { ...at, reason: 'seen', timeMs: expect.any(Number) },
      { entity: BAD, seq: 2, reason: 'also seen', timeMs: expect.any(Number) },
    ]);
    expect(skips[0]!.timeMs).toBeGreaterThanOrEqual(startedMs);
    expect(first.logged).toContainEqual({
      level: 'warn',
      message: 'the view leaves out an event',
      fields: { view: VIEW, component: 'counter', entity: 'bad', event: 1, reason: 'seen' },
    });
    await first.threads.stop();

    const again = threadsOn(journal, dir, source);
    await again.until('live', ({ state }) => state === 'live');
    await expect.poll(() => again.report().skips).toEqual(skips);
    // The rows are built without the skipped events, which are in the journal still.
    expect(await again.threads.rebuild(VIEW)).toBe('done');
    const rebuilt = { message: 'the rows of the view are built again' };
    await expect.poll(() => again.logged).toContainEqual(expect.objectContaining(rebuilt));
    await again.until('live', ({ state }) => state === 'live');
    expect(again.keys()).toEqual(['a', 'b']);
    await expect.poll(() => again.report().skips).toEqual(skips);
    await again.threads.stop();

    const other = threadsOn(journal, dir, await sourceOf('2'));
    await other.until('stopped', ({ state }) => state === 'stopped');
    expect(other.report().skips).toEqual([]);
    // Nothing has changed, so it stops at the same event.
    expect(await other.threads.rebuild(VIEW)).toBe('done');
    const stops = () =>
      other.logged.filter(({ fields }) => fields?.['code'] === 'SVC_VIEW_STOPPED');
    await expect.poll(() => stops().length).toBe(2);
    await other.until('stopped', ({ state }) => state === 'stopped');
  });

  test('in the midst of a large journal goes on when the event was skipped', async () => {
    const dir = temporaryFolder();
    const journal = await opened(dir);
    for (let entity = 0; entity < 6; entity++) await store(journal, `many-${entity}`, 1_000);
    await store(journal, BAD.id);
    for (let entity = 6; entity < 12; entity++) await store(journal, `many-${entity}`, 1_000);
    const view = threadsOn(journal, dir, await sourceOf());
    await view.until('stopped', ({ state }) => state === 'stopped');
    expect(view.logged.map(({ message }) => message)).toContain(
      'the rows of a view are being built',
    );
    expect(await view.threads.skip(VIEW, { entity: BAD, seq: 1 }, 'a known fault')).toBe('done');
    await view.until('live', ({ state }) => state === 'live');
    expect(view.keys()).toHaveLength(12);
    await store(journal, 'later');
    await view.until('folded', ({ position }) => position === '12002');
    expect(view.keys()).toHaveLength(13);
    expect(await view.threads.rebuild(VIEW)).toBe('done');
    await view.until('building', ({ state }) => state === 'building');
    await view.until('live', ({ state }) => state === 'live');
    expect(view.keys()).toHaveLength(13);
  });
});

test('several new views are built together, and then followed', async () => {
  const dir = temporaryFolder();
  const journal = await opened(dir);
  for (let entity = 0; entity < 11; entity++) await store(journal, `many-${entity}`, 1_000);
  const ids = [VIEW, 'b', 'c', 'd', 'e', 'f'];
  const module = admitModule(await viewModule('1', ids));
  const started = threadsOn(journal, dir, wasmSource(module, join(dir, 'm.wasm')));
  await started.until('live', ({ state }) => state === 'live');
  const report = () =>
    started.threads.report().map(({ state, position }) => `${state} ${position}`);
  // Those of a group are never further apart than a page.
  const group = report().slice(0, 4);
  expect(group.map((one) => one.split(' ')[1])).toEqual(Array(4).fill('11000'));
  await expect.poll(report).toEqual(Array(6).fill('live 11000'));
  await store(journal, 'later');
  await expect.poll(report).toEqual(Array(6).fill('live 11001'));
});

test('a service without views has nothing to report or to change', async () => {
  const journal = await opened();
  const threads = new ViewThreads({
    connection: Promise.resolve(journal.followerConnection),
    hosting: { wasm: SECTION_DEFAULTS.wasm },
    limits: VIEW_LIMITS_DEFAULT,
    supervision: SECTION_DEFAULTS.supervisor,
    env: {},
    log: () => {},
  });
  expect(threads.report()).toEqual([]);
  expect(await threads.rebuild(VIEW)).toBe('unknown-view');
  await threads.stop();
});
