// Subscriptions: the subscriptions of the tenant, the oldest first, and the changes that need no form: a new secret, and
// deletion. A new secret is displayed above the list until the user has stored it or leaves the screen.
import type { Subscription } from '@svc/client';
import { useState } from 'preact/hooks';
import { useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { NewSecret } from '../parts/new-secret.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { WebhookProblem, WebhooksFrame } from '../parts/webhooks-frame.tsx';
import { hashOf } from '../route.ts';
import { amountText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';
import {
  EVENT_WORDS,
  filterTexts,
  GRACE_PERIOD_DEFAULT,
  GRACE_PERIODS,
} from '../view/webhook-words.ts';
import {
  deleteSubscription,
  listSubscriptions,
  rotateSecret,
  SUBSCRIPTIONS_PATH,
  webhookProblemText,
} from '../webhooks-api.ts';
import { deliveriesView } from '../webhooks-route.ts';

const LISTED_EVERY_MS = 5_000;

export function SubscriptionsScreen() {
  return (
    <WebhooksFrame
      tab="webhooks"
      actions={
        <a class="primary at-end" href={hashOf({ screen: 'subscription', id: undefined })}>
          <Icon name="add" /> New subscription
        </a>
      }
    >
      <List />
    </WebhooksFrame>
  );
}

function List() {
  const [rotated, setRotated] = useState<Subscription | undefined>(undefined);
  const { value, problem, reload } = useLoaded(SUBSCRIPTIONS_PATH, listSubscriptions, {
    everyMs: LISTED_EVERY_MS,
  });
  return (
    <>
      {rotated !== undefined && (
        <NewSecret
          key={rotated.secret}
          subscription={rotated}
          stored={() => setRotated(undefined)}
        />
      )}
      {value === undefined && problem === undefined && <Waiting rows={6} />}
      {problem !== undefined && <WebhookProblem problem={problem} isOfTenant />}
      {value?.length === 0 && (
        <Empty title="The tenant has no subscription.">
          <p>
            A subscription has a URL, to which each event of a dataset that matches it is posted,
            signed with a secret of its own.
          </p>
          <a class="primary" href={hashOf({ screen: 'subscription', id: undefined })}>
            Create a subscription
          </a>
        </Empty>
      )}
      <ul class="work-list">
        {value?.map((subscription) => (
          <li key={subscription.id}>
            <SubscriptionRow subscription={subscription} reload={reload} showSecret={setRotated} />
          </li>
        ))}
      </ul>
    </>
  );
}

function SubscriptionRow({
  subscription,
  reload,
  showSecret,
}: {
  readonly subscription: Subscription;
  readonly reload: () => void;
  readonly showSecret: (subscription: Subscription) => void;
}) {
  const { id, url, events, signing, headers, createdAt } = subscription;
  const filters = filterTexts(subscription);
  const names = Object.keys(headers);
  return (
    <article class="card work-row">
      <p class="work-head">
        <a class="hook-url" href={hashOf({ screen: 'subscription', id })} data-row>
          {visibleLine(url)}
        </a>
        <span class="dim at-end">
          since <Clock time={createdAt} />
        </span>
      </p>
      <p>
        {events.map((event) => (
          <span class="chip" key={event} title={EVENT_WORDS[event]}>
            {visibleLine(event)}
          </span>
        ))}
        {filters.length === 0 && <span class="dim">of all datasets</span>}
      </p>
      {filters.length > 0 && (
        <p>
          <span class="dim">if</span>{' '}
          {filters.map((text) => (
            <span class="chip is-plain" key={text}>
              {text}
            </span>
          ))}
        </p>
      )}
      <p class="dim">
        Signs the {visibleLine(signing.over)} with {visibleLine(signing.method)}
        {names.length > 0 &&
          ` · ${amountText(names.length, 'header')}: ${visibleLine(names.join(', '))}`}
        {' · '}
        <code>{visibleLine(id)}</code>
        <CopyButton text={id} what="id of the subscription" />
      </p>
      <p class="actions">
        <a class="quiet" href={hashOf(deliveriesView({ subscription: id }))}>
          Deliveries
        </a>
        <a class="quiet" href={hashOf({ screen: 'subscription', id })}>
          Edit
        </a>
        <RotateButton id={id} done={reload} showSecret={showSecret} />
        <ConfirmButton
          label="Delete"
          textOf={webhookProblemText}
          done={reload}
          send={async (signal) => {
            await deleteSubscription(id, signal);
            return undefined;
          }}
        >
          <span>Its pending deliveries end. It cannot be undone.</span>
        </ConfirmButton>
      </p>
    </article>
  );
}

function RotateButton({
  id,
  done,
  showSecret,
}: {
  readonly id: string;
  readonly done: () => void;
  readonly showSecret: (subscription: Subscription) => void;
}) {
  const [seconds, setSeconds] = useState(GRACE_PERIOD_DEFAULT);
  return (
    <ConfirmButton
      label="Rotate secret"
      textOf={webhookProblemText}
      done={done}
      send={async (signal) => {
        showSecret(await rotateSecret(id, seconds, signal));
        return undefined;
      }}
    >
      <label class="grace">
        The former secret ends{' '}
        <select
          value={String(seconds)}
          onChange={(event) => setSeconds(Number(event.currentTarget.value))}
        >
          {GRACE_PERIODS.map(([period, text]) => (
            <option key={period} value={String(period)}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </ConfirmButton>
  );
}
