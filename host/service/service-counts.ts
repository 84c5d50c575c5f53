// ServiceCounts: how far the consumers and views of an embedded service follow the journal, for its program.
import type { ConsumerCounts } from '@svc/model/consumer-series';
import type { ViewStatus } from '@svc/model/view-status';

type ViewCounts = Pick<ViewStatus, 'state' | 'lagRecords' | 'lagSeconds'>;

/** Numbers by the ids of consumers and views. */
export interface ServiceCounts {
  /** As they were counted last, once a second. */
  readonly consumers: Readonly<Record<string, ConsumerCounts>>;
  /** Empty once the service is being stopped. */
  readonly views: Readonly<Record<string, ViewCounts>>;
}

export function serviceCounts(
  consumers: readonly (ConsumerCounts & { readonly consumer: string })[],
  views: readonly (ViewCounts & Pick<ViewStatus, 'view'>)[],
): ServiceCounts {
  return {
    consumers: Object.fromEntries(consumers.map(({ consumer, ...counts }) => [consumer, counts])),
    views: Object.fromEntries(
      views.map(({ view, state, lagRecords, lagSeconds }) => [
        view,
        { state, lagRecords, lagSeconds },
      ]),
    ),
  };
}
