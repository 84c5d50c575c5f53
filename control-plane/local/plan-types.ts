// PlanTypes: what a plan of a rollout is made from, and what it consists of.

export interface PlanInput {
  readonly wanted: Wanted;
  /** Every instance of the service that has a folder, the oldest first. */
  readonly instances: readonly InstanceView[];
  /** Whether requests of the service are held, and whether everyone who routes has acknowledged that. */
  readonly hold: 'none' | 'asked' | 'acknowledged';
  /** Whether those who followed a former control plane have had time to connect; only then a hold can be acknowledged. */
  readonly haveRoutersGathered: boolean;
  /** Why the wanted generation has failed, for good or with this installation; undefined as long as it has not. */
  readonly failure: string | undefined;
  /**
   * Since when an instance of the wanted generation is prepared and none of another one lives, by the clock of `nowMs`; undefined if it is
   * not so, or there is no other one.
   */
  readonly takeoverSinceMs: number | undefined;
  /** Since when no instance is ready, by the same clock; undefined if one is, or none has been yet. */
  readonly unservedSinceMs: number | undefined;
  /** Milliseconds by a clock that nobody sets, such as that of the boot. */
  readonly nowMs: number;
  readonly limits: PlanLimits;
}

export interface PlanLimits {
  /** Time that an instance has to become ready once it can have the data folder, in milliseconds. */
  readonly takeoverMs: number;
  /** Time for which requests are held while an instance that has ended is started again, in milliseconds. */
  readonly restartHoldMs: number;
  /** Pause before an instance that has ended is started again, in milliseconds. It doubles with each further end. */
  readonly restartPauseMinMs: number;
  readonly restartPauseMaxMs: number;
}

export interface Wanted {
  readonly incarnation: string;
  readonly generation: number;
  /** 0 while the service is paused, suspended or removed. */
  readonly instances: number;
  /** True: one instance at a time may have the journal open. */
  readonly hasDataFolder: boolean;
  /**
   * Instances of another cohort do not run beside those that are wanted, such as those of a module that was refused beside another one on the same
   * database. Undefined: they do, or the cohort is not known before the image is.
   */
  readonly cohort?: string | undefined;
}

/** An instance: the run of a program at an address of its own, with the runs before it, which have ended. */
export interface InstanceView {
  readonly name: string;
  readonly incarnation: string;
  readonly generation: number;
  /**
   * `prepared`: it has done everything that needs no data folder. `unready`: it has all that it needs, and does not take requests.
   * `retired`: no request is sent to it any more.
   */
  readonly phase: 'starting' | 'prepared' | 'unready' | 'ready' | 'retired' | 'stopping' | 'ended';
  /** Ends by itself since it was last ready for a while. */
  readonly failures: number;
  /** When the run has ended, by the same clock; undefined while it runs. */
  readonly endedAtMs: number | undefined;
  /** True: it has ended, and this installation does not start it again. */
  readonly isRefused: boolean;
  /** Undefined: it belongs to none. */
  readonly cohort?: string | undefined;
}

export type Step =
  /** A new instance of the wanted generation. It waits for the data folder, if it has one. */
  | { readonly kind: 'create' }
  /** The same instance again, at its address. */
  | { readonly kind: 'restart'; readonly name: string }
  /** Ask everyone who routes to send nothing to the service, and to say when nothing is under way. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'release' }
  /** Ask everyone who routes to send nothing to this instance, and to say when nothing is under way there. */
  | { readonly kind: 'retire'; readonly name: string }
  | { readonly kind: 'stop'; readonly name: string }
  /** Remove the folder of an instance that has ended. */
  | { readonly kind: 'remove'; readonly name: string }
  /** The wanted generation has failed for good: the former one serves on, or again. */
  | { readonly kind: 'fail'; readonly reason: string };

export interface Plan {
  readonly steps: readonly Step[];
  /** When time alone changes the plan, in milliseconds from now; undefined if it does not. */
  readonly lookAgainMs: number | undefined;
  /** True: all wanted instances are ready, and no other one serves. */
  readonly isComplete: boolean;
}

export const isLive = ({ phase }: InstanceView): boolean => phase !== 'ended';

/** Whether the instance is about to end. */
export const isLeaving = ({ phase }: InstanceView): boolean =>
  phase === 'retired' || phase === 'stopping';

export const isOf =
  ({ incarnation, generation }: Wanted) =>
  (instance: InstanceView): boolean =>
    instance.incarnation === incarnation && instance.generation === generation;
