// StrandedWork finds the timers and the events of consumers in a journal that a new module could not carry out: timers whose
// command it does not have, and events that wait for a consumer that it does not have.
import { setImmediate } from 'node:timers/promises';
import type { ModuleDescriptor } from '@svc/contract';
import type { StoredTimer } from '../engine/needs/timers.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { inspectConsumers, inspectTimers } from '../storage/journal-reading.ts';
import type { UpgradeFindings } from './upgrade-finding.ts';
import { consumerRemoved, sourceRemoved } from './view-difference.ts';

const PAGE_TIMERS = 1_000;

export interface StrandedQuestion {
  readonly location: JournalLocation;
  readonly now: ModuleDescriptor;
  readonly before: ModuleDescriptor | undefined;
  readonly findings: UpgradeFindings;
  readonly signal: AbortSignal | undefined;
}

/** Adds the findings. Rejects with the errors of the inspections, and with the signal's reason. */
export async function findStrandedWork(question: StrandedQuestion): Promise<void> {
  await findTimers(question);
  await findLanes(question);
}

async function findTimers({ location, now, findings, signal }: StrandedQuestion): Promise<void> {
  const commands = new Map(
    now.entities.map(({ component, commands: all }) => [
      component,
      new Set(all.map(({ name }) => name)),
    ]),
  );
  const inspection = inspectTimers(location);
  try {
    for (let after = 0; ;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const { timers, last } = await inspection.list({}, after, PAGE_TIMERS);
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

async function findLanes({ location, now, before, findings }: StrandedQuestion): Promise<void> {
  const declared = new Map(now.consumers?.map(({ id, sources }) => [id, sources]));
  const inspection = inspectConsumers(location);
  try {
    for await (const { consumer, lane } of inspection.allLanes()) {
      const { entity, seq, reason, nextMs } = lane;
      const { component, id } = entity;
      const sources = declared.get(consumer);
      if (sources?.includes(component) === true) continue;
      const finding =
        sources === undefined
          ? consumerRemoved(consumer, now, before)
          : sourceRemoved(consumer, component);
      const state = nextMs === undefined ? 'is parked' : 'is tried again';
      findings.add(finding, {
        id,
        seq,
        problem: `the event ${state}${reason === undefined ? '' : `: ${reason}`}`,
      });
    }
  } finally {
    inspection.close();
  }
}
