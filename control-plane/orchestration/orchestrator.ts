// Orchestrator: what runs the services of an installation, as the control plane sees it. A driver implements this interface,
// and test/suites/orchestrator-suite.ts is the same for every driver.
//
// The interface is level-triggered. `reconcile` says how a service should be, never what has changed, and is called again
// after every failure, after a restart of the control plane, and every few minutes. So a driver needs no memory of what it was
// told: it compares what runs with what should run.
//
// Every call has a signal, which is aborted when the control plane waits no longer. A driver passes it on to what it calls, and
// does nothing more for this call afterwards. A call that has not ended by then counts as failed, and a driver with too many such
// calls is not asked for a while (bounded-orchestrator.ts). Calls for different services run at the same time; `reconcile` is
// called for one service at a time, unless an earlier call ignores its signal.
import type { Problem, ServiceDescriptor, ServiceKey, ServiceLogs } from '@svc/client';

export interface Orchestrator {
  /** True: it never runs anything, so there is no use in looking again whether it does. */
  readonly runsNothing?: true;

  /**
   * Returns what the orchestrator cannot run of this service, such as two instances of a service with an SQLite journal; empty
   * if it can run it. Paths are JSON pointers into the descriptor. It is asked before an apply is stored, and changes nothing:
   * `generation` is the next one, and `incarnation` is empty if the service does not exist yet. Rejects if it cannot
   * tell: the apply is then stored, as it is without an answer in time, and `reconcile` refuses what cannot be run.
   */
  problems(desired: DesiredService, signal: AbortSignal): Promise<readonly Problem[]>;

  /**
   * Starts to bring what runs to what is desired, and resolves once the orchestrator is at work on it by itself; instances
   * become ready later. Doing it again changes nothing. A generation that is not the one that runs replaces every instance by
   * a rolling update, even a lower one, as after a restore of an older backup, and even with the same descriptor. A tag is resolved
   * again for each `appliedGeneration`, and not for a restart. Rejects with `WorkloadRefused` if this service cannot be run, and with any
   * other error if the orchestrator cannot be reached or fails.
   */
  reconcile(desired: DesiredService | RemovedService, signal: AbortSignal): Promise<void>;

  /**
   * Returns what there is of a service. Resolves with `none` for a key that the orchestrator does not know, and
   * rejects only if it cannot tell.
   */
  observe(key: ServiceKey, signal: AbortSignal): Promise<Observation>;

  /**
   * Returns recent output of the instances that exist, those included that have crashed and are started again; empty if
   * there is none, or none of the name `query.instance`. An instance whose output cannot be read has an `error` and
   * an empty output, and the others theirs.
   */
  logs(key: ServiceKey, query: LogQuery, signal: AbortSignal): Promise<readonly InstanceLogs[]>;

  /**
   * Calls back when an observation of a service may have changed: often rather than too seldom. The control plane does
   * not depend on it, since it looks again by itself; it makes changes visible sooner. Dispose ends the calls.
   */
  watch(changed: (key: ServiceKey) => void): Disposable;
}

/** How a service should be. */
export interface DesiredService {
  readonly kind: 'desired';
  readonly key: ServiceKey;
  /**
   * Identifies the life of the service from its first apply to its deletion: 1 to 64 lower-case letters and digits. A service
   * that is applied after a deletion has another one. A driver stores it with what it runs, and gives it back in observations.
   */
  readonly incarnation: string;
  /** Increases with each apply and each restart, also over deletions. */
  readonly generation: number;
  /** The generation of the last apply; a lower one than `generation` if there were restarts since. */
  readonly appliedGeneration: number;
  /** A valid descriptor. */
  readonly descriptor: ServiceDescriptor;
  /** Number of instances to run: that of the descriptor, and 0 while the service is paused or suspended. */
  readonly instances: number;
  readonly isPaused: boolean;
  /** True while its organization is disabled. */
  readonly isSuspended: boolean;
  /** The derived hostname while the service is exposed. */
  readonly exposedHostname: string | undefined;
  /** Every hostname that leads to the service from outside: the derived one, and those of the descriptor. */
  readonly hostnames: readonly string[];
}

/** Nothing of the service should exist: no instance, no route, no configuration. Its database is kept. */
export interface RemovedService {
  readonly kind: 'removed';
  readonly key: ServiceKey;
}

/** `none`: nothing of the service exists, of no incarnation, and every instance has ended. */
export type Observation = NoWorkload | Workload;

export interface NoWorkload {
  readonly kind: 'none';
  readonly key: ServiceKey;
  /** Why nothing of the service exists, for its members, such as `no node has room for it`; at most 2,000 characters count. */
  readonly detail?: string;
}

/** The workload of a service, or its remains after a deletion. */
export interface Workload {
  readonly kind: 'workload';
  readonly key: ServiceKey;
  /** Incarnation of the last `reconcile` that the orchestrator has taken up. */
  readonly incarnation: string;
  /** Generation of that `reconcile`; instances of earlier ones may still serve. */
  readonly generation: number;
  /** The number of instances of that `reconcile`. */
  readonly wantedInstances: number;
  /** Instances that are ready, of any generation. */
  readonly readyInstances: number;
  /** Instances of `generation` that are ready. */
  readonly updatedInstances: number;
  readonly rollout: Rollout;
  /** Why the workload is in its state, such as `cannot pull registry.example/it:1: not found`; at most 2,000 characters count. */
  readonly detail?: string;
  /** The database that the service has: `provisioned`, `supplied`. */
  readonly database?: string;
}

/**
 * The rollout of `generation` with `wantedInstances`. It is `complete` once all wanted instances were ready at the same time
 * and no instance of another generation serves, and stays so, whatever becomes of the instances, until the next
 * rollout. A rollout that has failed may become complete by itself.
 */
export type Rollout =
  | {
      readonly kind: 'progressing';
      /** The last progress, in milliseconds since 1970: the beginning, or when an instance became ready. */
      readonly sinceMs: number;
    }
  | { readonly kind: 'complete' }
  | {
      /** The orchestrator has stopped trying, or refuses the workload. */
      readonly kind: 'failed';
      readonly reason: string;
    };

export interface LogQuery {
  /** Name of one instance. Absent: every instance. */
  readonly instance?: string;
  /** True: the output before the last restart of an instance, which has an `error` if it was never restarted. */
  readonly previous: boolean;
  /** Only the last lines; 0 for none. */
  readonly tail?: number;
  /** Only the output of the last seconds. */
  readonly sinceS?: number;
  /** Only the last bytes of each instance: more of them is cut anyway. */
  readonly bytesMax: number;
}

/** `instance`, `output` and `error`, which is null for an instance whose output could be read. */
export type InstanceLogs = ServiceLogs['instances'][number];

/**
 * This service cannot be run, such as when something else has its name in the cluster. The message is shown to its members, with the
 * state `failed`. The reconcile is repeated all the same, since what is in the way may go.
 */
export class WorkloadRefused extends Error {
  override readonly name = 'WorkloadRefused';
}
