// FiredCommand executes a firing of the dispatcher with an engine, and answers as the dispatcher needs it.
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { Firing } from '../engine/firing.ts';
import type { FiringEnding } from '@svc/model/firing-ending';
import type { SharedSeries } from '@svc/model/shared-series';
import type { FiringAnswer } from '../timers/firing-answer.ts';

/** Resolves once the outcome is on disk, and counts it. Never rejects. */
export async function firedCommand(
  engine: Pick<EntityEngine, 'fire'>,
  firing: Firing,
  counts: SharedSeries<FiringEnding>,
): Promise<FiringAnswer> {
  const outcome = await engine.fire(firing);
  counts.add(outcome.kind);
  switch (outcome.kind) {
    case 'replied':
    case 'refused':
    case 'retried':
    case 'dead':
      return { outcome: 'settled' };
    case 'gone':
      return { outcome: 'gone' };
    case 'unavailable':
      // An engine that is closing is no failure: the next one executes the firing.
      return outcome.failure.code === 'SVC_STOPPING'
        ? { outcome: 'unavailable' }
        : { outcome: 'unavailable', reason: outcome.failure.message };
  }
}
