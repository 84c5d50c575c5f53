// StrandedWork finds the timers and the events of consumers in a journal that a new module could not carry out: timers whose
// command it does not have, and events that wait for a consumer that it does not have.
import { setImmediate } from 'node:timers/promises';
import type { ModuleDescriptor } from '@svc/contract';
import type { StoredTimer } from '../engine/needs/timers.ts';
import { ReadingConnection } from '../storage/sqlite/tools/reading-connection.ts';
import { consumerEntries } from '../storage/sqlite/tools/timer-entries.ts';
import {
  FIRST_FORMAT_WITH_TIMERS,
  TimerInspection,
} from '../storage/sqlite/tools/timer-inspection.ts';
import type { UpgradeFindings } from './upgrade-finding.ts';
import { consumerRemoved, sourceRemoved } from './view-difference.ts';

const PAGE_TIMERS = 1_000;

export interface StrandedQuestion {
  /** Data folder. */
  readonly dir: string;
  readonly now: ModuleDescriptor;
  readonly before: ModuleDescriptor | undefined;
  readonly findings: UpgradeFindings;
  readonly signal: AbortSignal | undefined;
}

/** Adds the findings. Rejects with the errors of the inspections, and with the signal's reason. */
export async function findStrandedWork(question: StrandedQuestion): Promise<void> {
  await findTimers(question);
  findLanes(question);
}

async function findTimers({ dir, now, findings, signal }: StrandedQuestion): Promise<void> {
  const commands = new Map(
    now.entities.map(({ component, commands: all }) => [
      component,
      new Set(all.map(({ name }) => name)),
    ]),
  );
  const inspection = new TimerInspection(dir);
  try {
    for (let after = 0; ;) {
      const { timers, last } = inspection.list({}, after, PAGE_TIMERS);
      for (const timer of timers)
        // A schedule is set or removed when the service starts, by what the module declares then.
        if (timer.owner !== undefined && !commands.get(timer.target.component)?.has(timer.command))
          addTimer(findings, timer);
      if (last === undefined) return;
      after = last.number;
      // Lets the process handle signals.
      await setImmediate();
      signal?.throwIfAborted();
    }
  } finally {
    inspection.close();
  }
}

function addTimer(findings: UpgradeFindings, timer: StoredTimer): void {
  const { target, command, name, dueMs, nextMs } = timer;
  const { component } = target;
  const state = nextMs === undefined ? 'dead' : 'pending';
  findings.add(
    {
      name: 'timer-command-removed',
      component,
      subject: command,
      message: `there is no command '${command}' of component '${component}', and timers send it`,
    },
    {
      id: target.id,
      problem: `timer '${name}' is ${state}, due at ${new Date(dueMs).toISOString()}`,
    },
  );
}

function findLanes({ dir, now, before, findings }: StrandedQuestion): void {
  const declared = new Map(now.consumers?.map(({ id, sources }) => [id, sources]));
  const connection = new ReadingConnection(dir);
  try {
    if (connection.format < FIRST_FORMAT_WITH_TIMERS) return;
    for (const entry of consumerEntries(connection)) {
      if (entry.kind !== 'lane') continue;
      const { consumer, component, id, seq, reason, nextMs } = entry.row;
      const sources = declared.get(consumer);
      if (sources?.includes(component) === true) continue;
      const finding =
        sources === undefined
          ? consumerRemoved(consumer, now, before)
          : sourceRemoved(consumer, component);
      const state = nextMs === null ? 'is parked' : 'is tried again';
      findings.add(finding, {
        id,
        seq,
        problem: `the event ${state}${reason === null ? '' : `: ${reason}`}`,
      });
    }
  } finally {
    connection.close();
  }
}
