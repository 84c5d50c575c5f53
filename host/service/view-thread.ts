// ViewThread is the entry point of a thread that folds events into the rows of views, with a guest, a feed and a store of its
// own. Its start data are ViewThreadSettings, and it exchanges the messages of view-messages.ts with the main thread.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { LogEntry } from '@svc/kit/log-entry';
import { startGuest } from '../hosting/start-guest.ts';
import { openFeed, openViews } from '../storage/follower-connection.ts';
import { systemClock } from '../system.ts';
import { PolitePace, threadPaceClock } from '../views/polite-pace.ts';
import { BUILT_TOGETHER_MAX } from '../views/shared-building.ts';
import { SharedView } from '../views/shared-view.ts';
import { after } from '@svc/kit/after';
import { removeUnusedViews } from '../views/unused-views.ts';
import { goneOnElsewhere } from '../views/watched-view.ts';
import { declaredViews } from '../views/view-definitions.ts';
import { type ProjectedView, ViewProjector } from '../views/view-projector.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { ViewChange } from '../views/view-report.ts';
import type {
  AskedChange,
  FailedChange,
  FromViewThread,
  ToViewThread,
  ViewThreadSettings,
} from './view-messages.ts';

/** Number of records up to which a view is built by the thread that follows. */
const BUILT_AT_ONCE_RECORDS = 10_000;
/** Views that are asked for within this time, in milliseconds, are built together. */
const GATHER_MS = 100;
const PRIORITY_LOWEST = 19;
/** How often files of definitions that are not used any more are looked for, in milliseconds. */
const REMOVE_UNUSED_MS = 3_600_000;

const settings = workerData as ViewThreadSettings;
const { role, source, connection, limits } = settings;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromViewThread) => parentPort!.postMessage(message);
/** Views that are asked for before the guest has started. */
const early: string[] = [...settings.views];
let take = (view: string): void => void early.push(view);
let change = (number: number, _asked: AskedChange): void =>
  send({ kind: 'changed', number, outcome: 'unavailable' });
let stop = (): void => process.exit();

parentPort!.on('message', (message: ToViewThread) => {
  switch (message.kind) {
    case 'take':
      return take(message.view);
    case 'change':
      return change(message.number, message.asked);
    case 'stop':
      return stop();
  }
});

// Elsewhere it would lower the priority of the whole process.
if (role === 'build' && process.platform === 'linux') setPriority(0, PRIORITY_LOWEST);

const log = (entry: LogEntry): void => send({ kind: 'log', entry });

// A fold is repeated whenever a view is built again, so the lines that it logs are discarded.
const guest = await startGuest(source, settings.hosting, () => {});
const store = await openViews(connection, limits);
const feed = await openFeed(connection);
const projector = new ViewProjector({
  guest: guest.views!,
  feed,
  store,
  limits,
  pace: new PolitePace(threadPaceClock),
  log,
  onProblem: (view, problem) => send({ kind: 'problem', view, problem }),
  onSkips: (view, skips) => send({ kind: 'skips', view, skips }),
});
const views = new Map<string, ProjectedView>(
  declaredViews(source.descriptor, source.fingerprint).map(({ folded }) => [
    folded.id,
    { folded, shared: new SharedView(settings.shared[folded.id]) },
  ]),
);

async function follow(view: ProjectedView): Promise<void> {
  const end = await projector.follow(view, BUILT_AT_ONCE_RECORDS);
  if (end === 'to-build') send({ kind: 'to-build', view: view.folded.id });
  if (end === 'stopped') void goOnWithOthers(view);
}

/** Views that are built after those that are being built. */
const toBuild: ProjectedView[] = [];
let isBuilding = false;

async function build(view: ProjectedView): Promise<void> {
  const end = await projector.build(view);
  // The thread that follows watches rows that another node builds, and comes back if that node has not.
  if (end === 'live' || end === 'elsewhere') send({ kind: 'built', view: view.folded.id });
  if (end === 'stopped') void goOnWithOthers(view);
}

/** Views that have stopped, by their ids, while it is watched whether another node goes on. */
const watches = new Map<string, AbortController>();

/** Lets a view be folded again that has stopped, once another node has gone on. */
async function goOnWithOthers(view: ProjectedView): Promise<void> {
  const stopped = projector.stoppedRows(view);
  if (store.progress === undefined || stopped === undefined) return;
  const { id, stored } = view.folded;
  const watch = new AbortController();
  watches.set(id, watch);
  const progress = () => store.progress!(stored);
  const hasGoneOn = await goneOnElsewhere(stopped, progress, feed, watch.signal, after);
  if (hasGoneOn && projector.passed(view)) take(id);
}

/** Builds several views at a time, with one walk through the journal. */
async function buildAll(): Promise<void> {
  if (isBuilding) return;
  isBuilding = true;
  while (toBuild.length > 0) await Promise.all(toBuild.splice(0, BUILT_TOGETHER_MAX).map(build));
  isBuilding = false;
}

async function changed({ view: id, skip }: AskedChange): Promise<ViewChange | FailedChange> {
  const view = views.get(id)!;
  if (skip === undefined) {
    const begun = projector.rebuild(view);
    if (begun === 'stopped') take(id);
    return begun === 'elsewhere' ? 'unavailable' : 'done';
  }
  try {
    const outcome = await projector.skip(view, skip);
    if (outcome === 'done') take(id);
    return outcome;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { code: error.code, message: error.message };
  }
}

function removeUnused(): void {
  void removeUnusedViews(store, [...views.values()], systemClock.nowMs(), log);
}

take = (id) => {
  watches.get(id)?.abort();
  watches.delete(id);
  const view = views.get(id)!;
  if (role === 'follow') void follow(view);
  else {
    toBuild.push(view);
    setTimeout(() => void buildAll(), GATHER_MS);
  }
};
change = (number, asked) =>
  void changed(asked).then((outcome) => send({ kind: 'changed', number, outcome }));
for (const view of early) take(view);
if (role === 'follow') {
  // By then the views know which former rows they need.
  setImmediate(removeUnused);
  setInterval(removeUnused, REMOVE_UNUSED_MS).unref();
}
stop = () =>
  void projector.close().then(async () => {
    await guest.close();
    await store.close();
    process.exit();
  });
