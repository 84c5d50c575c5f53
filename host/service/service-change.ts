// ServiceChange carries out the changes that operators ask of a running service: of its timers, its views and its consumers.
import { SvcError } from '@svc/kit/svc-error';
import type { ControlRequest } from '../control/control-request.ts';
import { SKIPS_MAX } from '../engine/needs/views.ts';
import type { EntityRef } from '@svc/model/entity';
import type { TimerAdministration } from '../storage/timer-administration.ts';
import { systemClock } from '../system.ts';
import type { ViewChange } from '../views/view-report.ts';
import type { StoppedAt } from '../views/view-stopped.ts';

type TimerRequest = Extract<ControlRequest, { readonly owner: EntityRef | null }>;
type ChangeableTimers = Pick<TimerAdministration, 'cancelTimer' | 'retryTimer'>;

/** The parts of a running service that can be changed. */
export interface ChangeableService {
  readonly timers: ChangeableTimers;
  readonly views: {
    rebuild(view: string): Promise<ViewChange>;
    skip(view: string, event: StoppedAt, reason: string): Promise<ViewChange>;
  };
  readonly consumers: {
    retry(consumer: string, entity: EntityRef): Promise<boolean>;
    retrySome(consumer: string): Promise<boolean>;
    skip(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean>;
  };
}

/** The views of a service that has none. */
export const NO_VIEWS: ChangeableService['views'] = {
  rebuild: async () => 'unknown-view',
  skip: async () => 'unknown-view',
};

/**
 * Resolves with whether there was something to change, once the change is on disk. Rejects with an SvcError that says why
 * nothing was changed.
 */
export async function changeService(
  { timers, views, consumers }: ChangeableService,
  request: ControlRequest,
  nowMs = systemClock.nowMs(),
): Promise<boolean> {
  switch (request.kind) {
    case 'cancel-timer':
    case 'retry-timer':
      return changeTimer(timers, request, nowMs);
    case 'rebuild-view':
      return isChanged(request.view, await views.rebuild(request.view));
    case 'skip-in-view': {
      const { view, entity, seq, reason } = request;
      return isChanged(view, await views.skip(view, { entity, seq }, reason));
    }
    case 'retry-lane':
      return consumers.retry(request.consumer, request.entity);
    case 'retry-lanes':
      return consumers.retrySome(request.consumer);
    case 'skip-in-lane': {
      const { consumer, entity, seq, reason } = request;
      return consumers.skip(consumer, entity, seq, reason);
    }
  }
}

/** Changes a timer. Resolves with whether it was there, once the change is on disk. Rejects as the journal does. */
export function changeTimer(
  timers: ChangeableTimers,
  { kind, owner, name }: TimerRequest,
  nowMs = systemClock.nowMs(),
): Promise<boolean> {
  const entity = owner ?? undefined;
  return kind === 'cancel-timer'
    ? timers.cancelTimer(entity, name)
    : timers.retryTimer(entity, name, nowMs);
}

/** Returns whether the outcome is a change. Throws SVC_SHARD_UNAVAILABLE and SVC_VIEWS_FULL where it can be tried again. */
function isChanged(view: string, outcome: ViewChange): boolean {
  switch (outcome) {
    case 'done':
      return true;
    case 'unknown-view':
    case 'not-stopped-there':
      return false;
    case 'too-many':
      throw new SvcError(
        'SVC_VIEWS_FULL',
        `The view '${view}' skips ${SKIPS_MAX} events already, which is the most. Correct its code, and give it another version.`,
      );
    case 'unavailable':
      throw new SvcError(
        'SVC_SHARD_UNAVAILABLE',
        `The thread that folds the view '${view}' does not run at the moment. Try again.`,
      );
  }
}
