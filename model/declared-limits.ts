// DeclaredLimits: the limits of requests that a module declares, with the buckets that each of them uses. The main thread needs their
// number for the memory, and the shards need the limits of each route; both read the same descriptor.
import { LIMIT_UNITS_MS, type LimitRule, type ModuleDescriptor } from '@svc/contract';
import type { BucketRate } from './request-bucket.ts';
import { SharedBuckets } from './shared-buckets.ts';

/** A limit as a route has it. */
export interface RouteLimit {
  readonly rule: LimitRule;
  readonly rate: BucketRate;
  /** Distinguishes the callers of this limit from those of others. */
  readonly name: string;
  /** Index of its reserved bucket. */
  readonly reserved: number;
}

export interface DeclaredLimits {
  /** Indexed by route: its limits; undefined: it has none. */
  readonly ofRoutes: readonly (readonly RouteLimit[] | undefined)[];
  /** Number of reserved buckets. */
  readonly reserved: number;
}

/** Memory of the buckets of a module, which the threads share. */
export interface SharedLimits {
  readonly memory: SharedArrayBuffer;
  /** Text that nobody else knows, so that no caller can choose its bucket. */
  readonly secret: string;
}

export function declaredLimits({ endpoints }: ModuleDescriptor): DeclaredLimits {
  const ofRoutes: (readonly RouteLimit[] | undefined)[] = [];
  let reserved = 0;
  const numbered = (rules: readonly LimitRule[] = []): readonly RouteLimit[] =>
    rules.map((rule) => {
      const periodMs = LIMIT_UNITS_MS[rule.per];
      const rate = { count: rule.count, periodMs };
      return { rule, rate, name: String(reserved), reserved: reserved++ };
    });
  for (const { limits, routes } of endpoints) {
    const shared = numbered(limits?.filter(({ by }) => by !== 'route'));
    for (const route of routes) {
      const own = numbered([
        ...(limits ?? []).filter(({ by }) => by === 'route'),
        ...(route.limits ?? []),
      ]);
      ofRoutes.push(shared.length + own.length === 0 ? undefined : [...shared, ...own]);
    }
  }
  return { ofRoutes, reserved };
}

/** Makes the memory of a module's buckets; undefined if the module has no limits. */
export function sharedLimits(
  descriptor: ModuleDescriptor,
  bucketsMax: number,
  secret: string,
): SharedLimits | undefined {
  const { reserved } = declaredLimits(descriptor);
  if (reserved === 0) return undefined;
  return { memory: SharedBuckets.shared({ bucketsMax, reserved }), secret };
}
