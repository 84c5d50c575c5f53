// RolloutSection: the settings svc.rollout.*, with their defaults and ranges, from which docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface RolloutSection {
  /** Time that requests in flight have to finish when an instance is replaced, in milliseconds; then they are cut. */
  readonly drainMs: number;
}

export const ROLLOUT_DEFAULTS: RolloutSection = { drainMs: 2000 };

export const ROLLOUT_RANGES: { readonly [Key in keyof RolloutSection]: Range } = {
  drainMs: [0, 10_000],
};
