// StoredWork answers questions about the timers, views and consumers of a journal that the engine writes meanwhile. It runs no
// code of a module, and keeps no file open between two questions.
import type { ConsumerList, LaneList, ObservedTimer, TimerList, ViewRows } from '@svc/contract';
import type { StoredTimer } from '../../engine/needs/timers.ts';
import type { Refusal } from '@svc/model/call';
import type { Schedule } from '@svc/model/timer';
import type { RowQuery } from '@svc/model/view';
import type { JournalLocation } from '../../storage/journal-location.ts';
import { inspectConsumers, inspectTimers } from '../../storage/journal-reading.ts';
import { timeText } from '../history-walk.ts';
import { ViewInspection } from '../view-inspection.ts';
import type { HistoryAnswer, HistoryQuestion } from './history-reader.ts';

type WorkQuestion = Extract<
  HistoryQuestion,
  { readonly kind: 'timers' | 'rows' | 'consumers' | 'lanes' }
>;
type Asked<Kind extends WorkQuestion['kind']> = Extract<WorkQuestion, { readonly kind: Kind }>;

/** Rejects with SVC_JOURNAL_…, SVC_DATA_UNUSABLE and SVC_VIEW_…. */
export async function storedWork(
  location: JournalLocation,
  question: WorkQuestion,
): Promise<HistoryAnswer> {
  switch (question.kind) {
    case 'timers':
      return { kind: 'timers', list: await timers(location, question) };
    case 'rows':
      return { kind: 'rows', found: await rows(location, question.query) };
    case 'consumers':
      return { kind: 'consumers', list: await consumers(location) };
    case 'lanes':
      return { kind: 'lanes', list: await lanes(location, question) };
  }
}

async function timers(
  location: JournalLocation,
  { owner, state, after, limit }: Asked<'timers'>,
): Promise<TimerList> {
  const inspection = inspectTimers(location);
  try {
    const page = await inspection.list({ owner, state }, after, limit);
    const count = page.timers.length + page.damaged.length;
    return {
      timers: page.timers.map(observedTimer),
      damaged: page.damaged.length,
      next: count < limit ? null : (page.last?.number ?? null),
    };
  } finally {
    inspection.close();
  }
}

function observedTimer(timer: StoredTimer): ObservedTimer {
  const { number, owner = null, name, target, command, input, schedule } = timer;
  const { dueMs, nextMs, attempts, fault = null } = timer;
  return {
    number,
    owner,
    name,
    target,
    command,
    input,
    schedule: schedule === undefined ? null : scheduleText(schedule),
    state: nextMs === undefined ? 'dead' : 'pending',
    due: timeText(dueMs),
    next: nextMs === undefined ? null : timeText(nextMs),
    attempts,
    fault,
  };
}

function scheduleText(schedule: Schedule): string {
  if (schedule.kind === 'every') return `every ${schedule.everyMs} ms`;
  return `${schedule.expression} ${schedule.zone === '' ? 'UTC' : schedule.zone}`;
}

async function rows(location: JournalLocation, query: RowQuery): Promise<ViewRows | Refusal> {
  const inspection = new ViewInspection(location);
  try {
    const found = await inspection.find(query);
    return 'kind' in found ? found : { rows: [...found.rows], next: found.cursor ?? null };
  } finally {
    inspection.close();
  }
}

async function consumers(location: JournalLocation): Promise<ConsumerList> {
  const inspection = inspectConsumers(location);
  try {
    return { consumers: [...(await inspection.consumers())] };
  } finally {
    inspection.close();
  }
}

async function lanes(
  location: JournalLocation,
  { consumer, state, after, limit }: Asked<'lanes'>,
): Promise<LaneList> {
  const inspection = inspectConsumers(location);
  try {
    const page = await inspection.lanes(consumer, { state }, after, limit);
    const count = page.lanes.length + page.damaged.length;
    return {
      consumer,
      lanes: page.lanes.map(({ entity, seq, nextMs, attempts, reason = null }) => ({
        entity,
        event: seq,
        state: nextMs === undefined ? 'parked' : 'retrying',
        next: nextMs === undefined ? null : timeText(nextMs),
        attempts,
        reason,
      })),
      next: count < limit ? null : (page.last ?? null),
    };
  } finally {
    inspection.close();
  }
}
