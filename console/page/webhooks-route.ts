// WebhooksRoute: the addresses of the screens of a tenant's webhooks, which belong to no service. The functions are pure.
import type { DeliveryOutcome } from '@svc/client';

export type WebhooksView =
  | { readonly screen: 'webhooks' }
  | {
      readonly screen: 'subscription';
      /** Undefined: the form is for a new one. */
      readonly id: string | undefined;
    }
  | DeliveriesView
  | { readonly screen: 'delivery'; readonly id: string };

export interface DeliveriesView {
  readonly screen: 'deliveries';
  readonly filter: DeliveryFilter;
  /** Cursor of the page; undefined: the page begins with the newest delivery. */
  readonly after: string | undefined;
}

/** The filters that the log takes: `outcome` alone or with `subscription`, the others alone. Empty: any. */
export interface DeliveryFilter {
  readonly outcome: DeliveryOutcome | '';
  readonly subscription: string;
  readonly dataset: string;
  readonly eventId: string;
}

export const NO_DELIVERY_FILTER: DeliveryFilter = {
  outcome: '',
  subscription: '',
  dataset: '',
  eventId: '',
};

const OUTCOMES: readonly string[] = [
  'pending',
  'delivered',
  'exhausted',
] satisfies DeliveryOutcome[];
const EVENT_ID = /^evt_[a-z2-7]{26}$/;

export function deliveriesView(
  filter: Partial<DeliveryFilter> = {},
  after?: string,
): DeliveriesView {
  return { screen: 'deliveries', filter: { ...NO_DELIVERY_FILTER, ...filter }, after };
}

/** Returns the view of the segments after '#/webhooks'. */
export function webhooksViewOf(segments: readonly string[], asked: URLSearchParams): WebhooksView {
  const [section, id] = segments;
  if (section === 'new') return { screen: 'subscription', id: undefined };
  if (section === 'subscriptions' && id) return { screen: 'subscription', id };
  if (section !== 'deliveries') return { screen: 'webhooks' };
  if (id) return { screen: 'delivery', id };
  return deliveriesView(filterIn(asked), asked.get('after') ?? undefined);
}

export function webhooksHashOf(view: WebhooksView): string {
  switch (view.screen) {
    case 'webhooks':
      return '#/webhooks';
    case 'subscription':
      if (view.id === undefined) return '#/webhooks/new';
      return `#/webhooks/subscriptions/${encodeURIComponent(view.id)}`;
    case 'deliveries': {
      const query = deliveryQuery(view.filter);
      if (view.after !== undefined) query.set('after', view.after);
      return `#/webhooks/deliveries${query.size === 0 ? '' : `?${query}`}`;
    }
    case 'delivery':
      return `#/webhooks/deliveries/${encodeURIComponent(view.id)}`;
  }
}

/** Returns the query parameters of the filters that are given, which the log and the address share. */
export function deliveryQuery(filter: DeliveryFilter): URLSearchParams {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
}

/** Returns the filter of an id that the user has typed: an event or a dataset. */
export function filterOfId(text: string): Partial<DeliveryFilter> {
  const id = text.trim();
  return EVENT_ID.test(id) ? { eventId: id } : { dataset: id };
}

/** Reads the filters of an address. Those that the log does not take together are left out. */
function filterIn(asked: URLSearchParams): Partial<DeliveryFilter> {
  const { outcome, subscription, dataset, eventId } = Object.fromEntries(asked);
  if (dataset) return { dataset };
  if (eventId) return { eventId };
  return {
    ...(outcome !== undefined &&
      OUTCOMES.includes(outcome) && { outcome: outcome as DeliveryOutcome }),
    ...(subscription && { subscription }),
  };
}
