// TimerDispatch: the thread that fires timers, and its links to the shards, when it starts, ends by itself and is stopped.
import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { afterAll, test } from 'vitest';
import type { Firing } from '../../../host/engine/firing.ts';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import { TIMER_SETTINGS_DEFAULT } from '../../../host/engine/timer-settings.ts';
import { TimerDispatch } from '../../../host/service/timer-dispatch.ts';
import { serveWork } from '../../../host/shards/work-link.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import {
  openSqliteJournal,
  type SqliteJournal,
} from '../../../host/storage/sqlite/sqlite-journal.ts';
import type { FiringAnswer } from '../../../host/timers/firing-answer.ts';
import { temporaryFoldersOfFile } from '../../support/temporary-folder.ts';
import { change, timerAt } from '../../support/timer-writes.ts';

const ownFolder = temporaryFoldersOfFile();
/** What is closed at the end, in the reverse order. */
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const POLL = { timeout: 30_000 };
const settled: FiringAnswer = { outcome: 'settled' };

/** A journal, and a dispatch of one shard whose thread is not started yet. */
async function dispatching(relink: (dispatch: TimerDispatch) => void = () => {}) {
  const dir = ownFolder();
  const reasons: string[] = [];
  const dispatch: TimerDispatch = new TimerDispatch({
    settings: TIMER_SETTINGS_DEFAULT,
    shards: 1,
    env: {},
    log: ({ fields }) => reasons.push(String(fields?.['reason'])),
    relink: () => relink(dispatch),
  });
  closing.push(() => dispatch.stop(0));
  return { dir, dispatch, reasons };
}

async function opened(dir: string): Promise<{ file: SqliteJournal; journal: Journal }> {
  const file = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(file.connect());
  closing.push(async () => {
    await journal.close();
    await file.close();
  });
  return { file, journal };
}

/** Executes firings that arrive at a shard's end of a link. */
function shard(port: MessagePort, fire = async (_firing: Firing) => settled): Firing[] {
  const fired: Firing[] = [];
  serveWork<Firing, FiringAnswer>(
    port,
    (firing) => {
      fired.push(firing);
      return fire(firing);
    },
    (failure) => {
      throw new Error(String(failure));
    },
  );
  closing.push(() => port.close());
  return fired;
}

const dueNow = (name: string, id = 'target') =>
  timerAt(name, 1, { target: { component: 'Cart', id } });
const owner = { component: 'Cart', id: 'one' };

test.concurrent('the thread starts with the first timer, and fires to the links that it was given before and since', async ({
  expect,
}) => {
  const { dir, dispatch } = await dispatching();
  const { file, journal } = await opened(dir);
  const first = shard(dispatch.link(0));
  dispatch.begin(file);
  await change(journal, owner, dueNow('a', 'a'));
  await expect.poll(() => first, POLL).toMatchObject([{ target: { id: 'a' }, command: 'expire' }]);
  // A shard that has started again has a link of its own.
  const second = shard(dispatch.link(0));
  await change(journal, owner, dueNow('b', 'b'));
  await expect.poll(() => second.some(({ target }) => target.id === 'b'), POLL).toBe(true);
  expect(first.some(({ target }) => target.id === 'b')).toBe(false);
});

test.concurrent('why a firing was unavailable is logged', async ({ expect }) => {
  const { dir, dispatch, reasons } = await dispatching();
  const { file, journal } = await opened(dir);
  shard(dispatch.link(0), async () => ({ outcome: 'unavailable', reason: 'the disk is full' }));
  dispatch.begin(file);
  await change(journal, owner, dueNow('a'));
  await expect.poll(() => reasons, POLL).toEqual(['the disk is full']);
});

test.concurrent('a thread that ends by itself is logged, and started again with new links', async ({
  expect,
}) => {
  let fired: Firing[] | undefined;
  const { dir, dispatch, reasons } = await dispatching((ended) => {
    fired = shard(ended.link(0));
  });
  const lost = dispatch.link(0);
  const closed = once(lost, 'close');
  lost.start();
  // There is no journal to open yet.
  dispatch.begin({
    followerConnection: { kind: 'sqlite', dir, end: new SharedArrayBuffer(8) },
    alarm: new SharedArrayBuffer(16),
    timersExist: async () => {},
  });
  await closed;
  await expect.poll(() => reasons, POLL).toContain('the thread has ended and is started again');
  const { journal } = await opened(dir);
  await change(journal, owner, dueNow('a'));
  await expect.poll(() => fired, POLL).toMatchObject([{ target: { id: 'target' } }]);
});

test.concurrent('a stop waits for the firings in flight, closes the links, and gives none that lives', async ({
  expect,
}) => {
  const { dir, dispatch } = await dispatching();
  const { file, journal } = await opened(dir);
  const held = Promise.withResolvers<FiringAnswer>();
  const port = dispatch.link(0);
  const fired = shard(port, () => held.promise);
  dispatch.begin(file);
  await change(journal, owner, dueNow('a'));
  await expect.poll(() => fired, POLL).toHaveLength(1);
  const closed = once(port, 'close');
  let isStopped = false;
  const stopped = dispatch.stop(60_000).finally(() => (isStopped = true));
  // For the same target, which is busy until the thread has certainly heard of the stop.
  await change(journal, owner, dueNow('b'));
  expect(isStopped).toBe(false);
  held.resolve(settled);
  await Promise.all([stopped, closed]);
  expect(fired).toHaveLength(1);
  await once(
    dispatch.link(0).on('message', () => {}),
    'close',
  );
});
