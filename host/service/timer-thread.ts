// TimerThread is the entry point of the thread that dispatches the firings of due timers to the shards. It runs no code of a
// module, and reads the journal through a connection of its own.
import { parentPort, workerData } from 'node:worker_threads';
import type { Firing } from '../engine/firing.ts';
import { Occurrences } from '../schedule/occurrences.ts';
import { HashOwnership } from '../shards/hash-ownership.ts';
import { WorkLink } from '../shards/work-link.ts';
import { openTimers } from '../storage/opened-timers.ts';
import { TimerAlarm } from '../storage/timer-alarm.ts';
import { TimerSeries } from '../storage/timer-series.ts';
import { systemClock } from '../system.ts';
import { AlarmSleeper } from './alarm-sleeper.ts';
import { Dispatcher } from '../timers/dispatcher.ts';
import type { FiringAnswer } from '../timers/firing-answer.ts';
import { FailureReports } from './failure-reports.ts';
import { TimerCounting } from './timer-counting.ts';
import type { FromTimerThread, TimerThreadData, ToTimerThread } from './timer-thread-messages.ts';

const { connection, alarm, series, settings, shards } = workerData as TimerThreadData;
const main = parentPort!;
const reports = new FailureReports(systemClock, (message) => {
  const report: FromTimerThread = { kind: 'failure', message };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  main.postMessage(report);
});
const ownership = new HashOwnership(shards);
const occurrences = new Occurrences();
const AWAY: FiringAnswer = { outcome: 'unavailable' };
/** Indexed by shard. */
const links = new Map<number, WorkLink<Firing, FiringAnswer>>();
const timers = await openTimers(connection, (damaged) => reports.add(damaged));

const dispatcher = new Dispatcher({
  source: timers,
  clock: systemClock,
  sleeper: new AlarmSleeper(new TimerAlarm(alarm), () => systemClock.nowMs()),
  settings,
  async fire(firing) {
    const link = links.get(ownership.ownerOf(firing.target.component, firing.target.id));
    return link?.send(firing) ?? AWAY;
  },
  following: (schedule, dueMs, nowMs) => occurrences.following(schedule, dueMs, nowMs),
  onFailure: (error) => reports.add(error),
});

const counting = new TimerCounting({
  counts: () => timers.counts(),
  series: new TimerSeries(series),
  onFailure: (error) => reports.add(error),
});

main.on('message', (message: ToTimerThread) => {
  switch (message.kind) {
    case 'shard':
      links.get(message.index)?.close();
      links.set(message.index, new WorkLink<Firing, FiringAnswer>(message.port, AWAY));
      return undefined;
    case 'stop':
      return void stop(message.graceMs);
  }
});

async function stop(graceMs: number): Promise<void> {
  counting.stop();
  await dispatcher.stop(graceMs);
  for (const link of links.values()) link.close();
  timers.close();
  main.close();
}

dispatcher.start();
counting.start();
