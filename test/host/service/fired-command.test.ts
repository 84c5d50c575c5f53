// FiredCommand: what the dispatcher and the metrics learn of a firing, depending on how the engine has ended it.
import { expect, test } from 'vitest';
import type { Firing, FiringOutcome } from '../../../host/engine/firing.ts';
import { firedCommand } from '../../../host/service/fired-command.ts';
import type { FiringAnswer } from '../../../host/timers/firing-answer.ts';
import { SvcError, type SvcErrorCode } from '../../../kit/svc-error.ts';
import { FIRING_ENDINGS, type FiringEnding } from '../../../model/firing-ending.ts';
import { SharedSeries } from '../../../model/shared-series.ts';

const unavailable = (code: SvcErrorCode): FiringOutcome => ({
  kind: 'unavailable',
  failure: new SvcError(code, 'why'),
});

test.each<[FiringOutcome, FiringEnding, FiringAnswer]>([
  [{ kind: 'replied' }, 'replied', { outcome: 'settled' }],
  [{ kind: 'refused', code: 'CONFLICT' }, 'refused', { outcome: 'settled' }],
  [{ kind: 'retried', nextMs: 5 }, 'retried', { outcome: 'settled' }],
  [{ kind: 'dead' }, 'dead', { outcome: 'settled' }],
  [{ kind: 'gone' }, 'gone', { outcome: 'gone' }],
  // Another node executes it, which nobody has to be warned of.
  [unavailable('SVC_ENTITY_MOVED'), 'moved', { outcome: 'moved' }],
  [unavailable('SVC_STOPPING'), 'unavailable', { outcome: 'unavailable' }],
  [unavailable('SVC_DISK_FULL'), 'unavailable', { outcome: 'unavailable', reason: 'why' }],
])('a firing that ends as %o counts as %s', async (outcome, ending, answer) => {
  const counts = new SharedSeries(FIRING_ENDINGS);
  expect(await firedCommand({ fire: async () => outcome }, {} as Firing, counts)).toEqual(answer);
  expect(FIRING_ENDINGS.filter((name) => counts.get(name) > 0)).toEqual([ending]);
});
