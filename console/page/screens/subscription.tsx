// Subscription: the form of a new subscription, or of one that exists, with the problems of a refusal beside the controls.
// The secret of a new one replaces the form until the user has stored it or leaves the screen.
import type { Subscription } from '@svc/client';
import { getJson } from '../api.ts';
import { SubscriptionForm } from '../form/subscription-form.tsx';
import {
  EMPTY_SUBSCRIPTION,
  subscriptionDraft,
  type SubscriptionDraft,
} from '../form/subscription-draft.ts';
import { useState } from 'preact/hooks';
import { useLoaded } from '../loaded.ts';
import { NewSecret } from '../parts/new-secret.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { WebhookProblem, WithTarget } from '../parts/webhooks-frame.tsx';
import { hashOf } from '../route.ts';
import { announce, go } from '../store.ts';
import { subscriptionPath } from '../webhooks-api.ts';

const LIST = { screen: 'webhooks' } as const;

/** `id`: undefined for a new one. */
export function SubscriptionScreen({ id }: { readonly id: string | undefined }) {
  return (
    <WithTarget>
      {() => (
        <>
          <a class="back" href={hashOf(LIST)} data-back>
            Subscriptions
          </a>
          {id === undefined ? <NewSubscription /> : <ExistingSubscription id={id} />}
        </>
      )}
    </WithTarget>
  );
}

function NewSubscription() {
  const [created, setCreated] = useState<Subscription | undefined>(undefined);
  if (created !== undefined)
    return (
      <>
        <Head title="Subscription created" />
        <NewSecret
          subscription={created}
          stored={() => {
            setCreated(undefined);
            go(LIST, true);
          }}
        />
      </>
    );
  return (
    <>
      <Head title="New subscription" />
      <SubscriptionForm id={undefined} initial={EMPTY_SUBSCRIPTION} saved={setCreated} />
    </>
  );
}

function ExistingSubscription({ id }: { readonly id: string }) {
  const path = subscriptionPath(id);
  const { value, problem } = useLoaded<SubscriptionDraft>(path, async (signal) =>
    subscriptionDraft(await getJson<Subscription>(path, signal)),
  );
  return (
    <>
      <Head title="Edit subscription" id={id} />
      {value === undefined && problem === undefined && <Waiting rows={8} />}
      {problem !== undefined && <WebhookProblem problem={problem} />}
      {value !== undefined && (
        <SubscriptionForm
          id={id}
          initial={value}
          saved={() => {
            announce('Subscription saved');
            go(LIST);
          }}
        />
      )}
    </>
  );
}

function Head({ title, id }: { readonly title: string; readonly id?: string }) {
  return (
    <header class="screen-head">
      <h1>{title}</h1>
      {id !== undefined && <code class="dim">{id}</code>}
    </header>
  );
}
