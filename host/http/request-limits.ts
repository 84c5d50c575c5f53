// RequestLimits decides whether the limits of a route let a request through: each of them has a token for it in the bucket of the caller's
// subject, of its address, or of the route. All shards of a service use the same buckets.
//
// Invariants:
// - A request that one limit refuses takes nothing from the others.
// - The buckets take a fixed amount of memory, whatever callers send. A caller for whom there is no bucket shares one with
//   all others, so it is limited too.
// - No caller can choose its bucket.
import { hash } from 'node:crypto';
import type { HeaderList } from '@svc/model/endpoint';
import type { DeclaredLimits, RouteLimit, SharedLimits } from '@svc/model/declared-limits';
import { limitHeaders, wholeSeconds } from '@svc/model/request-bucket';
import { type BucketKey, SharedBuckets, type TakenBucket } from '@svc/model/shared-buckets';
import { type Answer, errorAnswer } from './answers.ts';
import { keyOwner, type RequestPrincipal } from './bearer.ts';
import type { HttpSettings } from './http-settings.ts';
import type { RouteTable } from './route-table.ts';

export interface RequestLimitsOptions {
  /** Buckets of callers. */
  readonly bucketsMax: number;
  /** Returns milliseconds that never go back, the same for all threads that share the memory. Absent: the clock of this thread. */
  readonly nowMs?: (() => number) | undefined;
  /** Absent: the limits have buckets of their own. */
  readonly shared?: SharedLimits | undefined;
  /** Called for each request of a caller for whom there is no bucket. */
  readonly onCrowded?: (() => void) | undefined;
}

/** Facts by which a request is counted. */
export interface LimitedCaller {
  /** Undefined: the route asks for no token. */
  readonly principal: RequestPrincipal | undefined;
  readonly address: string;
}

interface Use {
  readonly limit: RouteLimit;
  /** Undefined for the bucket of a route. */
  readonly key: BucketKey | undefined;
  readonly taken: TakenBucket;
}

const PER = { second: 'a second', minute: 'a minute', hour: 'an hour', day: 'a day' };
const WHOSE = { subject: 'This caller', address: 'This address', route: 'All callers together' };

export class RequestLimits {
  readonly #buckets: SharedBuckets;
  readonly #secret: string;
  readonly #nowMs: () => number;
  readonly #onCrowded: (() => void) | undefined;

  /** Returns undefined if no route has a limit. `declared`: the limits for which the memory in `shared` was made. */
  static of(declared: DeclaredLimits, options: RequestLimitsOptions): RequestLimits | undefined {
    return declared.reserved === 0 ? undefined : new RequestLimits(declared, options);
  }

  private constructor(
    { reserved }: DeclaredLimits,
    { bucketsMax, nowMs = () => performance.now(), shared, onCrowded }: RequestLimitsOptions,
  ) {
    this.#buckets = new SharedBuckets({ bucketsMax, reserved }, shared?.memory);
    this.#secret = shared?.secret ?? crypto.randomUUID();
    this.#nowMs = nowMs;
    this.#onCrowded = onCrowded;
  }

  /** Returns the headers of the answer to a request that is let through; otherwise the answer 429. */
  admit(limits: readonly RouteLimit[], caller: LimitedCaller): HeaderList | Answer {
    const nowMs = this.#nowMs();
    const uses = limits.map((limit) => this.#take(limit, caller, nowMs));
    const refused = uses.filter(({ taken }) => !taken.isTaken);
    if (refused.length > 0) {
      for (const { taken, key, limit } of uses)
        if (taken.isTaken) this.#buckets.restore(taken.index, key, limit.rate);
      return refusal(refused.toSorted((a, b) => b.taken.waitMs - a.taken.waitMs)[0]!);
    }
    const [{ limit, taken }] = uses.toSorted((a, b) => a.taken.remaining - b.taken.remaining) as [
      Use,
    ];
    const resetS = wholeSeconds(taken.fullAtMs - nowMs);
    return limitHeaders(limit.rule.count, taken.remaining, resetS);
  }

  #take(limit: RouteLimit, { principal, address }: LimitedCaller, nowMs: number): Use {
    const { rule, rate, name, reserved } = limit;
    if (rule.by === 'route')
      return {
        limit,
        key: undefined,
        taken: this.#buckets.takeReserved(reserved, rate, nowMs),
      };
    const key = this.#keyOf(
      `${name} ${rule.by === 'subject' ? keyOwner(principal!) : `address ${address}`}`,
    );
    const taken = this.#buckets.take(key, reserved, rate, nowMs);
    if (taken.isCrowded) this.#onCrowded?.();
    return { limit, key, taken };
  }

  #keyOf(text: string): BucketKey {
    const digest = hash('sha256', `${this.#secret} ${text}`, 'latin1');
    return { set: wordOf(digest, 0) >>> 0, tags: [wordOf(digest, 4), wordOf(digest, 8)] };
  }
}

/** Returns the 32 bits at a byte of a text that has a byte in each character, as a signed number. */
function wordOf(bytes: string, at: number): number {
  return (
    (bytes.charCodeAt(at) << 24) |
    (bytes.charCodeAt(at + 1) << 16) |
    (bytes.charCodeAt(at + 2) << 8) |
    bytes.charCodeAt(at + 3)
  );
}

/** Returns the limits of a server that shares its buckets with no other; undefined if no route has a limit. */
export function ownLimits(
  { limits }: RouteTable,
  { limitBucketsMax: bucketsMax }: HttpSettings,
): RequestLimits | undefined {
  return RequestLimits.of(limits, { bucketsMax });
}

function refusal({ limit: { rule }, taken }: Use): Answer {
  const seconds = wholeSeconds(taken.waitMs);
  const { count, per, by } = rule;
  const requests = count === 1 ? 'request' : 'requests';
  return errorAnswer(
    429,
    `${WHOSE[by]} may send ${count} ${requests} ${PER[per]} here. Send the request again in ${seconds} s.`,
    [['retry-after', String(seconds)], ...limitHeaders(count, 0, seconds)],
  );
}
