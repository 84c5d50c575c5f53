// Servers of two versions behind one address do not have pods replaced again and again.
import { expect, test } from 'vitest';
import { featuresOf } from '../../../control-plane/kubernetes/cluster-identity.ts';
import { SteadyFeatures } from '../../../control-plane/kubernetes/steady-features.ts';

const BUDGETS = [{ groupVersion: 'policy/v1' }];

/** Returns whether pods wait by themselves after each finding. */
function sleepsOf(minors: readonly number[]): readonly boolean[] {
  const features = new SteadyFeatures();
  return minors.map((minor) => features.found(featuresOf(minor, BUDGETS)).hasSleepAction);
}

test('the first finding counts', () => {
  expect(sleepsOf([29])).toEqual([false]);
  expect(sleepsOf([30])).toEqual([true]);
});

test('others count once they were found three times in a row', () => {
  expect(sleepsOf([29, 30, 30, 30, 31])).toEqual([false, false, false, true, true]);
  expect(sleepsOf([29, 30, 30, 29, 30, 29, 30, 30])).not.toContain(true);
});

test('what a server could do is never taken back', () => {
  expect(sleepsOf([30, 29, 29, 29, 29, 30, 29])).not.toContain(false);
});

test('another version of budgets counts in both directions, and unchanged features are the same object', () => {
  const features = new SteadyFeatures();
  const first = features.found(featuresOf(30, BUDGETS));
  expect(features.found(featuresOf(31, BUDGETS))).toBe(first);
  const budgets = (versions: readonly object[], minor = 30) =>
    [1, 2, 3].map(() => features.found(featuresOf(minor, versions)).disruptionBudgets);
  expect(budgets([], 20)).toEqual(['policy/v1', 'policy/v1', 'policy/v1beta1']);
  expect(budgets(BUDGETS)).toEqual(['policy/v1beta1', 'policy/v1beta1', 'policy/v1']);
  expect(features.found(first)).toEqual({ disruptionBudgets: 'policy/v1', hasSleepAction: true });
});
