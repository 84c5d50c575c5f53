// FoundInstances: the instances of a service as a look at their folders and processes finds them.
import type { ServiceKey } from '@svc/client';
import type { ServiceExit } from '@svc/kit/state-file';
import { InstanceFolder } from './instance-folder.ts';
import { phaseOf, type ProcessPhase } from './instance-process.ts';
import type { LocalMachine } from './local-machine.ts';
import type { InstanceView } from './plan-types.ts';

export interface Found {
  readonly folder: InstanceFolder;
  readonly view: InstanceView;
  /** How the last run has ended, in its own words; undefined while it runs, or if it was killed. */
  readonly exit: ServiceExit | undefined;
  /** Since when the instance is ready, in milliseconds since 1970. */
  readonly readySinceMs: number | undefined;
}

/** Returns the instances of the service, the oldest first. */
export function lookAt(machine: LocalMachine, key: ServiceKey): readonly Found[] {
  return InstanceFolder.readOf(machine.instancesFolder, key).map((folder) =>
    foundIn(machine, folder),
  );
}

function foundIn(machine: LocalMachine, folder: InstanceFolder): Found {
  const { name, incarnation, generation, key } = folder.spec;
  const nowMs = machine.clock.nowMs();
  const phase = phaseOf(folder, nowMs);
  const note = machine.notes.of(name);
  const isUnused = note.isRetired === true && machine.routes.isUnused(key, name);
  return {
    folder,
    exit: phase.kind === 'ended' ? phase.exit : undefined,
    readySinceMs: phase.kind === 'ready' ? phase.sinceMs : undefined,
    view: {
      name,
      incarnation,
      generation,
      phase: viewPhase(phase, { isAsked: note.stopAskedAtMs !== undefined, isUnused }),
      ...endOf(machine, folder, phase),
    },
  };
}

function viewPhase(
  { kind }: ProcessPhase,
  { isAsked, isUnused }: { readonly isAsked: boolean; readonly isUnused: boolean },
): InstanceView['phase'] {
  if (kind === 'ended') return 'ended';
  if (isAsked) return 'stopping';
  return kind === 'ready' && isUnused ? 'retired' : kind;
}

function endOf(
  { clock, notes, section }: LocalMachine,
  folder: InstanceFolder,
  phase: ProcessPhase,
): Pick<InstanceView, 'failures' | 'endedAtMs'> {
  const run = folder.lastRun;
  const before = run?.failures ?? 0;
  if (phase.kind !== 'ended') return { failures: before, endedAtMs: undefined };
  const { name } = folder.spec;
  const endedAtMs = notes.seenDead(name, clock.nowMs());
  // An instance that was asked to end has not failed, and one that ran for long begins to count anew.
  if (notes.of(name).stopAskedAtMs !== undefined) return { failures: 0, endedAtMs };
  const isStable = run !== undefined && endedAtMs - run.startedAtMs >= section.stableMs;
  return { failures: isStable ? 1 : before + 1, endedAtMs };
}
