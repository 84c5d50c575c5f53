// InstanceCgroups: a control group of the kernel (cgroup v2) for each instance, with the limits of its descriptor. The groups lie in one
// that the operator has given to the platform (svc.local.cgroup), and in which no process of the platform is.
//
// Invariants
// G1  A process is in the group of its instance before it executes the program of the instance, or does not execute it.
// G2  A limit that cannot be set is reported, and hinders no start. What `limited` names is read from the kernel.
// G3  Only groups whose names begin with the prefix of this machine's folder are removed, with all processes in them.
// G4  A group that is in use is tried again a bounded number of times, and is then left to the next start.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { cpuMillis, memoryBytes, type ServiceDescriptor } from '@svc/client';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { FaultLog } from '../orchestration/fault-log.ts';
import { CGROUP_FILES, type CgroupFiles, fileErrorCode } from './cgroup-files.ts';
import type { InstanceSpec } from './instance-spec.ts';
import type { LaunchCommand } from './launch-command.ts';
import { RESOURCES, type ResourceName } from './resource-limits.ts';

const CONTROLLERS = ['cpu', 'memory', 'pids'] as const;
type Controller = (typeof CONTROLLERS)[number];

/** Writes its own id, which it keeps as it executes the command. A message of the shell would name the group's path. */
const JOIN =
  '{ echo 0 >"$1"; } 2>/dev/null || { echo "its control group does not take it" >&2; exit 1; }; shift; exec "$@"';
const CPU_PERIOD_US = 100_000;
/** Smallest quota that the kernel takes. */
const CPU_QUOTA_US_MIN = 1000;
/** Pause before a group in use is tried again, in milliseconds. It doubles with each further time. */
const REMOVAL_PAUSE_MS = 20;
const REMOVALS_MAX = 10;
/** Time for a shell to join a group as a trial, in milliseconds. */
const TRIAL_MS = 5000;

/** The instance to which a group belongs. */
export type CgroupOwner = Pick<InstanceSpec, 'key' | 'name' | 'descriptor'>;

export interface CgroupOptions {
  /** Path of the group that was given to the platform. */
  readonly cgroup: string;
  /** The folder of everything that runs on this machine (svc.local.folder). */
  readonly machineFolder: string;
  /** Processes and threads that an instance may have. */
  readonly processesMax: number;
  readonly log: Log;
  /** Default: those of the kernel. */
  readonly files?: CgroupFiles;
}

interface Limit {
  readonly controller: Controller;
  readonly file: string;
  readonly text: string;
  /** True: some kernels do not have it. */
  readonly isOptional?: boolean;
}

export class InstanceCgroups {
  readonly #options: CgroupOptions;
  readonly #files: CgroupFiles;
  readonly #prefix: string;
  readonly #controllers: ReadonlySet<Controller>;
  readonly #faults: FaultLog;
  readonly #removals = new Set<NodeJS.Timeout>();

  private constructor(options: CgroupOptions, controllers: ReadonlySet<Controller>) {
    this.#options = options;
    this.#files = options.files ?? CGROUP_FILES;
    this.#prefix = prefixOf(options.machineFolder);
    this.#controllers = controllers;
    this.#faults = new FaultLog(options.log, SYSTEM_CLOCK);
  }

  /** Returns undefined, and logs the reason, if no process can be limited by groups below the given one. */
  static open(options: CgroupOptions): InstanceCgroups | undefined {
    const { cgroup, log, machineFolder, files = CGROUP_FILES } = options;
    const refusals = new Map<Controller, string>();
    let refusal: string | undefined;
    try {
      files.read(join(cgroup, 'cgroup.controllers'));
      for (const controller of CONTROLLERS) {
        const reason = refusalOf(files, cgroup, controller);
        if (reason !== undefined) refusals.set(controller, reason);
      }
      refusal = trial(files, join(cgroup, `${prefixOf(machineFolder)}trial`));
    } catch (error) {
      refusal = `it is no control group of version 2: ${(error as Error).message}`;
    }
    const controllers = new Set(CONTROLLERS.filter((one) => !refusals.has(one)));
    const reasons = [...refusals].map(([one, reason]) => `${one} (${reason})`);
    if (controllers.size === 0) refusal ??= 'it has none of the controllers';
    if (refusal !== undefined || reasons.length > 0)
      log({
        level: 'warn',
        message:
          refusal === undefined
            ? `Some limits of instances are not set, because the control group of svc.local.cgroup does not give these controllers to others: ${reasons.join(', ')}`
            : `No limits are set for the processes of instances by the control group of svc.local.cgroup: ${[refusal, ...reasons].join(', ')}`,
        fields: { cgroup },
      });
    return refusal === undefined ? new InstanceCgroups(options, controllers) : undefined;
  }

  /** Makes the group of a run with its limits. Returns the command whose process joins the group first. */
  enclosed(owner: CgroupOwner, command: LaunchCommand): LaunchCommand {
    const path = this.#pathOf(owner);
    try {
      this.#renew(path);
    } catch (error) {
      this.#report('An instance has no limits', owner, error);
      return command;
    }
    for (const { file, text, isOptional = false } of this.#limitsOf(owner)) {
      try {
        this.#files.write(join(path, file), text);
      } catch (error) {
        if (!isOptional || fileErrorCode(error) !== 'ENOENT')
          this.#report(`The limit ${file} of an instance is not set`, owner, error);
      }
    }
    const [sh, ...args] = joining(path);
    return { ...command, file: sh, args: [...args, command.file, ...command.args] };
  }

  /** Returns the resources that the kernel limits for all these instances; for none, those that it would limit. */
  limited(owners: readonly CgroupOwner[]): ReadonlySet<ResourceName> {
    const names = RESOURCES.filter((name) => this.#controllers.has(name));
    return new Set(
      names.filter((name) => owners.every((owner) => this.#isLimited(this.#pathOf(owner), name))),
    );
  }

  /** Whether the kernel has killed a process of the last run, because the instance was at its limit of memory. */
  wasOutOfMemory(owner: CgroupOwner): boolean {
    const events = this.#readIn(this.#pathOf(owner), 'memory.events') ?? '';
    return /^oom_kill [1-9]/m.test(events);
  }

  /** Removes the group, with what is left in it. */
  remove(owner: CgroupOwner): void {
    this.#remove(this.#pathOf(owner), REMOVALS_MAX);
  }

  /** Removes the groups of instances that are gone. */
  sweep(instances: readonly CgroupOwner[]): void {
    const known = new Set(instances.map((owner) => this.#nameOf(owner)));
    const { cgroup } = this.#options;
    try {
      for (const name of this.#files.groupsIn(cgroup))
        if (name.startsWith(this.#prefix) && !known.has(name))
          this.#remove(join(cgroup, name), REMOVALS_MAX);
    } catch (error) {
      this.#report('Control groups cannot be looked at', undefined, error);
    }
  }

  /** Nothing is removed any more. */
  close(): void {
    for (const timer of this.#removals) clearTimeout(timer);
    this.#removals.clear();
  }

  /** Makes an empty group, whose counts begin anew unless a process of the last run is still ending in it. */
  #renew(path: string): void {
    // Whoever has made the given group anew has not enabled anything.
    for (const one of this.#controllers) refusalOf(this.#files, this.#options.cgroup, one);
    this.#kill(path);
    try {
      this.#files.removeGroup(path);
    } catch (error) {
      if (!['ENOENT', 'EBUSY'].includes(fileErrorCode(error) ?? '')) throw error;
    }
    try {
      this.#files.makeGroup(path);
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error;
    }
  }

  #limitsOf({ descriptor }: CgroupOwner): readonly Limit[] {
    const limits = limitsOf(descriptor, this.#options.processesMax);
    return limits.filter(({ controller }) => this.#controllers.has(controller));
  }

  #isLimited(path: string, name: ResourceName): boolean {
    const text = this.#readIn(path, `${name}.max`);
    return text !== undefined && !text.startsWith('max');
  }

  #readIn(path: string, file: string): string | undefined {
    try {
      return this.#files.read(join(path, file));
    } catch {
      // There is no such group, or no such file in it.
      return undefined;
    }
  }

  #kill(path: string): void {
    try {
      this.#files.write(join(path, 'cgroup.kill'), '1');
    } catch {
      // The group is gone, or the kernel is older than 5.14: what is left was killed by its environment (run-processes.ts).
    }
  }

  #remove(path: string, attempts: number): void {
    this.#kill(path);
    try {
      this.#files.removeGroup(path);
    } catch (error) {
      const code = fileErrorCode(error);
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || attempts <= 1) {
        this.#report('A control group is left to the next start', undefined, error);
        return;
      }
      const timer = setTimeout(
        () => {
          this.#removals.delete(timer);
          this.#remove(path, attempts - 1);
        },
        REMOVAL_PAUSE_MS * 2 ** (REMOVALS_MAX - attempts),
      ).unref();
      this.#removals.add(timer);
    }
  }

  #nameOf({ key, name }: CgroupOwner): string {
    return `${this.#prefix}${key.project}.${name}`;
  }

  #pathOf(owner: CgroupOwner): string {
    return join(this.#options.cgroup, this.#nameOf(owner));
  }

  #report(what: string, owner: CgroupOwner | undefined, error: unknown): void {
    this.#faults.report(what, owner?.key, error);
  }
}

/** Two machines may have the same group, and instances of the same names. */
function prefixOf(machineFolder: string): string {
  return `svc-${createHash('sha256').update(machineFolder).digest('hex').slice(0, 8)}.`;
}

function limitsOf({ resources }: ServiceDescriptor, processesMax: number): readonly Limit[] {
  const { cpu, memory } = resources ?? {};
  const millis = cpu === undefined ? undefined : cpuMillis(cpu);
  const bytes = memory === undefined ? undefined : memoryBytes(memory);
  const limits: Limit[] = [{ controller: 'pids', file: 'pids.max', text: String(processesMax) }];
  if (millis !== undefined) {
    const quota = Math.max(CPU_QUOTA_US_MIN, Math.round((millis * CPU_PERIOD_US) / 1000));
    limits.push({ controller: 'cpu', file: 'cpu.max', text: `${quota} ${CPU_PERIOD_US}` });
  }
  if (bytes !== undefined)
    limits.push(
      { controller: 'memory', file: 'memory.max', text: String(Math.ceil(bytes)) },
      { controller: 'memory', file: 'memory.swap.max', text: '0', isOptional: true },
      // No part of an instance goes on without the others.
      { controller: 'memory', file: 'memory.oom.group', text: '1', isOptional: true },
    );
  return limits;
}

/** Gives the controller to groups below the group. Returns why that is not possible. */
function refusalOf(files: CgroupFiles, cgroup: string, controller: Controller): string | undefined {
  try {
    const available = files.read(join(cgroup, 'cgroup.controllers')).split(/\s+/);
    if (!available.includes(controller)) return 'the group does not have it';
    files.write(join(cgroup, 'cgroup.subtree_control'), `+${controller}`);
    return undefined;
  } catch (error) {
    return fileErrorCode(error) === 'EBUSY'
      ? 'a process is in the group itself'
      : (error as Error).message;
  }
}

/** Returns the command that joins a group, to which the command is added that is executed then. */
function joining(path: string): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', JOIN, 'sh', join(path, 'cgroup.procs')];
}

/** Returns why no process of this one can join a group that is made at the path; undefined if one can. */
function trial(files: CgroupFiles, path: string): string | undefined {
  try {
    files.makeGroup(path);
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') return (error as Error).message;
  }
  const [sh, ...args] = joining(path);
  const { status } = spawnSync(sh, [...args, 'true'], { timeout: TRIAL_MS });
  try {
    files.removeGroup(path);
  } catch {
    // The sweep removes it.
  }
  return status === 0
    ? undefined
    : 'no process can be moved to a group below it: the user of the control plane must be able to write to cgroup.procs of the next group above both';
}
