// Intake: takes what the platform reports of datasets. It is where a tenant's load is bounded, since all tenants share what comes after it.
//
// Invariant: what was answered is on disk, with the event that follows from it.
import type { DatasetReport } from '@svc/client';
import { refuse, type Result } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import { dataset, eventTypeOf, type LastReport } from '../model/dataset.ts';
import { datasetKey } from '../model/ids.ts';
import { DeliveryBudgets, type IntakeLimits } from './delivery-budgets.ts';
import type { Segment, Segments } from './segments.ts';
import { Turns } from '../model/turns.ts';

/** Finds a number about the subscriptions of a tenant that an event would go to. */
export type CountOf = (
  tenant: string,
  event: {
    readonly type: string;
    readonly occurredAtMs: number;
    readonly dataset: Pick<DatasetReport, 'name' | 'model' | 'tags' | 'status'>;
  },
) => Promise<number>;

export interface IntakeOptions {
  readonly segments: Pick<Segments, 'at' | 'newestFirst'>;
  readonly countMatching: CountOf;
  /** How many steps `countMatching` may take for searches in the name. */
  readonly searchSteps: CountOf;
  readonly clock: Clock;
  readonly limits: IntakeLimits;
}

/** Steps of searches that count as a delivery: about 50 microseconds. */
const STEPS_A_DELIVERY = 2_000;

export class Intake {
  readonly #options: IntakeOptions;
  readonly #budgets: DeliveryBudgets;
  readonly #turns = new Turns();

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#budgets = new DeliveryBudgets(options.limits, options.clock);
  }

  /** Resolves with the id of the event that the report has caused; null: it causes none. */
  report(
    tenant: string,
    id: string,
    reported: DatasetReport,
  ): Promise<Result<{ readonly eventId: string | null }>> {
    const key = datasetKey(tenant, id);
    return this.#turns.take(key, async () => {
      const { segments, clock } = this.#options;
      const segment = await segments.at(clock.nowMs());
      const entity = segment.service.call(dataset, key);
      const { last } = accepted(await entity.last());
      const former = last === null ? await this.#former(segment, key) : undefined;
      const waitMs = await this.#overload(tenant, reported, last ?? former);
      if (waitMs > 0)
        return refuse(
          'the tenant has reported more than its subscriptions can be sent: send it again later',
          'TOO_MANY_REQUESTS',
          { details: { retryAfterS: Math.ceil(waitMs / 1_000) } },
        );
      return await entity.report({
        ...reported,
        tags: [...reported.tags],
        tenant,
        id,
        ...(former !== undefined && { former }),
      });
    });
  }

  /**
   * Takes the searches and the deliveries of the report from the tenant's budget, if an event follows from it; one that goes to nobody counts as
   * one. Returns the time until there are enough, in milliseconds. Nothing is searched before.
   */
  async #overload(
    tenant: string,
    reported: DatasetReport,
    last: LastReport | undefined,
  ): Promise<number> {
    if (last !== undefined && reported.seq <= last.seq) return 0;
    const type = eventTypeOf(reported.status, last?.status);
    if (type === undefined) return 0;
    const { clock, limits, countMatching, searchSteps } = this.#options;
    const event = { type, occurredAtMs: clock.nowMs(), dataset: reported };
    const steps = await searchSteps(tenant, event);
    const searches = Math.floor(steps / STEPS_A_DELIVERY);
    const waitMs = this.#budgets.take(tenant, searches);
    if (waitMs > 0) return waitMs;
    const deliveries = Math.max(await countMatching(tenant, event), 1);
    // Both together take a whole budget at most, so that it is enough for any event.
    const left = Math.max(limits.deliveriesBurstMax - searches, 0);
    return this.#budgets.take(tenant, Math.min(deliveries, left));
  }

  /** Returns what the segments before know of a dataset. */
  async #former({ number }: Segment, key: string): Promise<LastReport | undefined> {
    const before = this.#options.segments.newestFirst.filter((segment) => segment.number < number);
    // Most datasets are new to all of them, so that one after the other would be asked anyway.
    const known = await Promise.all(
      before.map(async ({ service }) => accepted(await service.call(dataset, key).last()).last),
    );
    return known.find((last) => last !== null) ?? undefined;
  }
}

/** The query `last` refuses nothing. */
function accepted(result: Result<LastReport | null>): { readonly last: LastReport | null } {
  if (result.isOk) return { last: result.value };
  throw new Error(`a dataset refused a query: ${result.message}`);
}
