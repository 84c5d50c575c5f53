// FiredCommand executes a firing of the dispatcher with an engine, and answers as the dispatcher needs it.
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { Firing } from '../engine/firing.ts';
import type { SvcError } from '@svc/kit/svc-error';
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
  switch (outcome.kind) {
    case 'unavailable':
      return unavailable(outcome.failure, counts);
    case 'gone':
      counts.add('gone');
      return { outcome: 'gone' };
    case 'replied':
    case 'refused':
    case 'retried':
    case 'dead':
      counts.add(outcome.kind);
      return { outcome: 'settled' };
  }
}

function unavailable(
  { code, message }: SvcError,
  counts: SharedSeries<FiringEnding>,
): FiringAnswer {
  // That another node executes the firing is no failure of this one.
  if (code === 'SVC_ENTITY_MOVED') {
    counts.add('moved');
    return { outcome: 'moved' };
  }
  counts.add('unavailable');
  // An engine that is closing is no failure either: the next one executes the firing.
  return code === 'SVC_STOPPING'
    ? { outcome: 'unavailable' }
    : { outcome: 'unavailable', reason: message };
}
