// The threads of a module's views, with a real journal and a real module, and what operators change.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { SECTION_DEFAULTS } from '../../../host/service/section-settings.ts';
import { ViewThreads } from '../../../host/service/view-threads.ts';
import {
  BAD,
  counter,
  opened,
  sourceOf,
  store,
  threadsOn,
  VIEW,
} from '../../support/started-view-threads.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a view that has stopped goes on when the event was skipped, after a restart, too, and not with another definition', async () => {
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
  expect(await first.threads.skip(VIEW, { entity: BAD, seq: 2 }, 'why')).toBe('not-stopped-there');
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
  const stops = () => other.logged.filter(({ fields }) => fields?.['code'] === 'SVC_VIEW_STOPPED');
  await expect.poll(() => stops().length).toBe(2);
  await other.until('stopped', ({ state }) => state === 'stopped');
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

describe('a start that waits for views', () => {
  const never = new AbortController().signal;

  test('waits until they answer', async () => {
    const dir = temporaryFolder();
    const journal = await opened(dir);
    await store(journal, 'a', 100);
    const { threads } = threadsOn(journal, dir, await sourceOf());
    await threads.answering(never);
    expect(threads.report()).toMatchObject([{ state: 'live', position: '100' }]);
  });

  test('waits neither for one that has stopped, nor for one that fails', async () => {
    const dir = temporaryFolder();
    const journal = await opened(dir);
    await store(journal, BAD.id);
    const stopping = threadsOn(journal, dir, await sourceOf());
    await stopping.threads.answering(never);
    expect(stopping.report().state).toBe('stopped');

    const full = temporaryFolder();
    // The folder of the rows cannot be made.
    writeFileSync(join(full, 'views'), '');
    const failing = threadsOn(await opened(full), full, await sourceOf());
    await failing.threads.answering(never);
    expect(failing.report()).toMatchObject({ state: 'starting', problem: { kind: 'failing' } });
  });

  test('waits no longer when the service stops, and not at all without views', async () => {
    const stop = new AbortController();
    const threads = new ViewThreads({
      connection: new Promise(() => {}),
      hosting: { wasm: SECTION_DEFAULTS.wasm },
      limits: VIEW_LIMITS_DEFAULT,
      supervision: SECTION_DEFAULTS.supervisor,
      env: {},
      log: () => {},
    });
    await threads.answering(never);
    threads.serve(await sourceOf());
    const waiting = threads.answering(stop.signal);
    stop.abort();
    await waiting;
    expect(threads.report()).toMatchObject([{ state: 'starting' }]);
  });
});
