// FoundInstances: the instances of a service as a look at their folders and processes finds them.
import type { ServiceKey } from '@svc/client';
import { InstanceFolder } from './instance-folder.ts';
import { phaseOf, type ProcessEnded, type ProcessPhase } from './instance-process.ts';
import type { LocalMachine } from './local-machine.ts';
import type { InstanceView } from './plan-types.ts';
import { apartImageOf, type ServiceRecord } from './service-record.ts';

export interface Found {
  readonly folder: InstanceFolder;
  readonly view: InstanceView;
  /** Whether the process itself says that it is ready. */
  readonly saysReady: boolean;
  /** How the last run has ended; undefined while it runs. */
  readonly end: ProcessEnded | undefined;
}

/** Returns the instances of the service, the oldest first. `record`: what is known of its image; without it, all images count as those that run beside others. */
export function lookAt(
  machine: LocalMachine,
  key: ServiceKey,
  record?: ServiceRecord,
): readonly Found[] {
  const apart = record && apartImageOf(record);
  return InstanceFolder.readOf(machine.instancesFolder, key).map((folder) =>
    foundIn(machine, folder, apart),
  );
}

function foundIn(machine: LocalMachine, folder: InstanceFolder, apart: string | undefined): Found {
  const { name, incarnation, generation, key, descriptor, imageRuntime, imageDigest } = folder.spec;
  const phase = phaseOf(folder, machine.clock);
  const note = machine.notes.of(name);
  const { isReady } = machine.probes.of(name);
  const isUnused = note.isRetired === true && machine.routes.isUnused(key, name);
  return {
    folder,
    saysReady: phase.kind === 'ready',
    end: phase.kind === 'ended' ? phase : undefined,
    view: {
      name,
      incarnation,
      generation,
      phase: viewPhase(phase, { isAsked: note.stopAskedMs !== undefined, isUnused, isReady }),
      ...endOf(machine, folder, phase),
      isRefused:
        phase.kind === 'ended' && machine.refusalOf(key, descriptor, imageRuntime) !== undefined,
      cohort: machine.journals.cohortOf(key, descriptor, imageDigest === apart),
    },
  };
}

function viewPhase(
  { kind }: ProcessPhase,
  { isAsked, isUnused, isReady }: Record<'isAsked' | 'isUnused' | 'isReady', boolean>,
): InstanceView['phase'] {
  if (kind === 'ended') return 'ended';
  if (isAsked) return 'stopping';
  if (kind !== 'ready') return kind;
  if (isUnused) return 'retired';
  return isReady ? 'ready' : 'unready';
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
  const endedAtMs = notes.seenDead(name, clock.bootMs());
  // An instance that was asked to end has not failed, and one that ran for long begins to count anew.
  if (notes.of(name).stopAskedMs !== undefined || !phase.isFailure)
    return { failures: 0, endedAtMs };
  const isStable = run !== undefined && endedAtMs - run.startedAt.ms >= section.stableMs;
  return { failures: isStable ? 1 : before + 1, endedAtMs };
}
