// A process that builds a view of the history in view-model.ts, follows it, and meanwhile builds another one.
// Usage: node view-workload.ts FOLDER SEED
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { FileViews } from '../../../host/storage/views/file-views.ts';
import { HISTORY_LENGTH, History, LIVE_FROM, VIEWS, openFollower } from './view-model.ts';

const STEP = 8;

const history = new History(Number(process.argv[3]));
const feed = history.journal.feed();
const store = new FileViews(process.argv[2]!, VIEW_LIMITS_DEFAULT);
const { signal } = new AbortController();
const [first, second] = VIEWS;

await history.growTo(LIVE_FROM);
let live = await openFollower(first, feed, store);
await live.complete(signal);
const building = await openFollower(second, feed, store);
const built = building.complete(signal);
for (let length = LIVE_FROM; length < HISTORY_LENGTH; length += STEP) {
  await history.growTo(length + STEP);
  // Half of the time it was closed and opened in between, as by a restart.
  if (length % (2 * STEP) === 0) {
    live.close();
    live = await openFollower(first, feed, store);
  }
  await live.complete(signal);
}
await built;
building.close();
live.close();
