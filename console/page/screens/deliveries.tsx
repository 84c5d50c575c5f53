// Deliveries: the log of deliveries, newest first, one page at a time. The address contains the filters and the cursor of
// the page. The first page displays new deliveries by itself, unless the list has the pointer or the focus, or is
// scrolled: then a button offers them, so that nothing moves while the user reads.
import type { DeliveryPage, LogEntry } from '@svc/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { DELIVERY_OUTCOMES, DeliveryOutcome } from '../parts/delivery-outcome.tsx';
import { Empty } from '../parts/empty.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { WebhookProblem, WebhooksFrame } from '../parts/webhooks-frame.tsx';
import { hashOf } from '../route.ts';
import { go, lastDeliveries, nowMs } from '../store.ts';
import { amountText } from '../view/number-text.ts';
import { addedCount, refreshed } from '../view/steady-list.ts';
import { visibleLine } from '../view/visible-text.ts';
import { lastAttemptText, nextAttemptText } from '../view/webhook-words.ts';
import {
  deliveriesPath,
  listDeliveries,
  listSubscriptions,
  SUBSCRIPTIONS_PATH,
} from '../webhooks-api.ts';
import {
  deliveriesView,
  deliveryQuery,
  filterOfId,
  type DeliveriesView,
  type DeliveryFilter,
} from '../webhooks-route.ts';

const LISTED_EVERY_MS = 3_000;

export function DeliveriesScreen({ view }: { readonly view: DeliveriesView }) {
  return (
    <WebhooksFrame tab="deliveries">
      <Filters filter={view.filter} />
      <Log view={view} />
    </WebhooksFrame>
  );
}

function Log({ view }: { readonly view: DeliveriesView }) {
  const path = deliveriesPath(view);
  const isFirst = view.after === undefined;
  const newest = useLoaded<DeliveryPage>(path, (signal) => listDeliveries(view, signal), {
    ...(isFirst && { everyMs: LISTED_EVERY_MS }),
    keepsOld: true,
  });
  const [shown, setShown] = useState<{ path: string; page: DeliveryPage } | undefined>(undefined);
  const container = useRef<HTMLDivElement>(null);
  const { value, problem, isCurrent } = newest;
  useEffect(() => {
    if (value === undefined || !isCurrent) return;
    const isHeld = shown?.path === path && isRead(container.current);
    const entries = isHeld ? refreshed(shown.page.entries, value.entries) : value.entries;
    setShown({ path, page: { ...(isHeld ? shown.page : value), entries } });
  }, [value, isCurrent]);
  useEffect(() => scrollTo(0, 0), [view.after]);
  useEffect(() => void (lastDeliveries.value = view), [view]);
  const page = shown?.page;
  const isShown = isCurrent && shown?.path === path;
  const added = isShown ? addedCount(shown.page.entries, value!.entries) : 0;
  return (
    <>
      {problem !== undefined && <WebhookProblem problem={problem} isOfTenant />}
      <p class="new-rows">
        {added > 0 && (
          <button type="button" class="quiet" onClick={() => setShown({ path, page: value! })}>
            {amountText(added, 'new delivery', 'new deliveries')}
          </button>
        )}
      </p>
      <div
        ref={container}
        class={`deliveries-list ${isShown ? '' : 'is-stale'}`}
        aria-busy={!isShown}
      >
        {page === undefined && problem === undefined && <Waiting rows={12} />}
        {page?.entries.length === 0 && <NoDelivery view={view} />}
        {page !== undefined && page.entries.length > 0 && <Table entries={page.entries} />}
      </div>
      {page !== undefined && (!isFirst || page.cursor !== undefined) && (
        <footer class="list-foot">
          <nav aria-label="Pages" class="pages">
            {isFirst ? (
              <span>Newest</span>
            ) : (
              <a href={hashOf(deliveriesView(view.filter))}>Newest</a>
            )}
            {page.cursor === undefined ? (
              <span>Older</span>
            ) : (
              <a href={hashOf(deliveriesView(view.filter, page.cursor))}>Older</a>
            )}
          </nav>
          <span class="dim">Deliveries are kept for thirty days.</span>
        </footer>
      )}
    </>
  );
}

/** Returns whether the user is probably reading the list: it has the pointer or the focus, or is scrolled. */
function isRead(container: HTMLElement | null): boolean {
  if (container === null) return false;
  return container.matches(':hover') || container.contains(document.activeElement) || scrollY > 40;
}

function Table({ entries }: { readonly entries: readonly LogEntry[] }) {
  return (
    <table class="rows deliveries">
      <thead>
        <tr>
          <th>Time</th>
          <th>Outcome</th>
          <th>Event</th>
          <th>Dataset</th>
          <th class="end">Attempts</th>
          <th>Last</th>
          <th>Next</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ entry }: { readonly entry: LogEntry }) {
  const { id, eventType, url, datasetId, outcome, occurredAt, attempts } = entry;
  return (
    <tr>
      <td data-label="Time">
        <Clock time={occurredAt} />
      </td>
      <td data-label="Outcome">
        <DeliveryOutcome outcome={outcome} />
      </td>
      <td class="main-cell">
        <a href={hashOf({ screen: 'delivery', id })} data-row>
          {visibleLine(eventType)}
        </a>
        <div class="hook-target dim" title={visibleLine(url)}>
          {visibleLine(url)}
        </div>
      </td>
      <td class="id-cell" data-label="Dataset" title={visibleLine(datasetId ?? '')}>
        {visibleLine(datasetId ?? '')}
      </td>
      <td class="number end" data-label="Attempts">
        {attempts.length}
      </td>
      <td data-label="Last">
        {entry.error === null ? lastAttemptText(entry) : visibleLine(entry.error)}
      </td>
      <td class="number" data-label="Next">
        {nextAttemptText(entry, nowMs.value) ?? ''}
      </td>
    </tr>
  );
}

function show(filter: Partial<DeliveryFilter>): void {
  go(deliveriesView(filter), true);
}

function Filters({ filter }: { readonly filter: DeliveryFilter }) {
  const subscriptions = useLoaded(SUBSCRIPTIONS_PATH, listSubscriptions).value ?? [];
  const { outcome, subscription } = filter;
  const id = filter.dataset || filter.eventId;
  const [typed, setTyped] = useState(id);
  useEffect(() => setTyped(id), [id]);
  const find = () => {
    const text = typed.trim();
    if (text.startsWith('dl_')) go({ screen: 'delivery', id: text });
    else if (text === '') show({ outcome, subscription });
    else show(filterOfId(text));
  };
  const isKnown = subscription === '' || subscriptions.some((one) => one.id === subscription);
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filter deliveries"
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <div class="switch is-outcomes" role="group" aria-label="Outcome">
        {DELIVERY_OUTCOMES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={outcome === one}
            onClick={() => show({ subscription, outcome: outcome === one ? '' : one })}
          >
            <DeliveryOutcome outcome={one} />
          </button>
        ))}
      </div>
      <select
        aria-label="Subscription"
        value={subscription}
        onChange={(event) => show({ outcome, subscription: event.currentTarget.value })}
      >
        <option value="">All subscriptions</option>
        {!isKnown && <option value={subscription}>{visibleLine(subscription)}</option>}
        {subscriptions.map((one) => (
          <option key={one.id} value={one.id}>
            {visibleLine(one.url)}
          </option>
        ))}
      </select>
      <input
        type="search"
        class="filter"
        placeholder="Id of a dataset, event or delivery"
        aria-label="Id of a dataset, event or delivery"
        title="Enter finds it"
        data-filter
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button class="quiet">Find</button>
      {deliveryQuery(filter).size > 0 && (
        <button type="button" class="quiet" onClick={() => show({})}>
          Clear filters
        </button>
      )}
    </form>
  );
}

function NoDelivery({ view: { filter, after } }: { readonly view: DeliveriesView }) {
  if (after !== undefined)
    return (
      <Empty title="There are no older deliveries.">
        <p>
          Deliveries are kept for thirty days.{' '}
          <a href={hashOf(deliveriesView(filter))}>Newest deliveries</a>
        </p>
      </Empty>
    );
  if (deliveryQuery(filter).size > 0)
    return (
      <Empty title="No delivery matches.">
        <p class="dim">
          Ids are compared whole. An outcome can be combined with a subscription, and an id with
          nothing.
        </p>
      </Empty>
    );
  return (
    <Empty title="No delivery yet.">
      <p>
        When a dataset reaches a final status, each <a href="#/webhooks">subscription</a> that
        matches gets a delivery, which appears here.
      </p>
    </Empty>
  );
}
