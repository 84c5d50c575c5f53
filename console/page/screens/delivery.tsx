// Delivery: one delivery with its attempts and its body. It is loaded again until it is no longer pending, so that a retry is
// seen as it happens.
import type { LogAttempt, LogEntryWithBody } from '@svc/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemOf, useLoaded } from '../loaded.ts';
import { Clock } from '../parts/clock.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { DeliveryOutcome } from '../parts/delivery-outcome.tsx';
import { Fact, FactRow } from '../parts/facts.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { TextBlock } from '../parts/text-block.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { WebhookProblem, WithTarget } from '../parts/webhooks-frame.tsx';
import { hashOf } from '../route.ts';
import { announce, lastDeliveries, nowMs } from '../store.ts';
import { visibleLine } from '../view/visible-text.ts';
import {
  attemptDurationText,
  attemptErrorText,
  deliveryErrorText,
  nextAttemptText,
} from '../view/webhook-words.ts';
import { deliveryPath, getDelivery, retryDelivery, webhookProblemText } from '../webhooks-api.ts';
import { deliveriesView } from '../webhooks-route.ts';

const PENDING_EVERY_MS = 1_000;

export function DeliveryScreen({ id }: { readonly id: string }) {
  return (
    <WithTarget>
      {() => (
        <>
          <a class="back" href={hashOf(lastDeliveries.value ?? deliveriesView())} data-back>
            Deliveries
          </a>
          <Content id={id} />
        </>
      )}
    </WithTarget>
  );
}

function Content({ id }: { readonly id: string }) {
  const [isPending, setPending] = useState(false);
  const { value, problem, reload } = useLoaded<LogEntryWithBody>(
    deliveryPath(id),
    (signal) => getDelivery(id, signal),
    { ...(isPending && { everyMs: PENDING_EVERY_MS }) },
  );
  const outcome = value?.outcome;
  const before = useRef(outcome);
  useEffect(() => {
    setPending(outcome === 'pending');
    if (before.current === 'pending' && outcome !== undefined && outcome !== 'pending')
      announce(`The delivery is ${outcome}`);
    before.current = outcome;
  }, [outcome]);
  return (
    <>
      <header class="screen-head">
        <h1>{value === undefined ? 'Delivery' : visibleLine(value.eventType)}</h1>
        {value !== undefined && (
          <>
            <DeliveryOutcome outcome={value.outcome} />
            <NextAttempt delivery={value} />
            <RetryButton delivery={value} done={reload} />
          </>
        )}
      </header>
      {problem !== undefined && <WebhookProblem problem={problem} />}
      {value === undefined && problem === undefined && <Waiting rows={8} />}
      {value !== undefined && <Details delivery={value} />}
    </>
  );
}

function NextAttempt({ delivery }: { readonly delivery: LogEntryWithBody }) {
  const text = nextAttemptText(delivery, nowMs.value);
  return text === undefined ? null : <span class="dim number">next attempt {text}</span>;
}

/** A retry is sent at the first click: receivers have to expect an event twice in any case. */
function RetryButton({
  delivery: { id, outcome },
  done,
}: {
  readonly delivery: LogEntryWithBody;
  readonly done: () => void;
}) {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const send = async () => {
    setSending(true);
    setProblem(undefined);
    const { signal } = stop.current;
    try {
      await retryDelivery(id, signal);
      announce('The delivery is sent again');
    } catch (error) {
      if (!signal.aborted) setProblem(webhookProblemText(problemOf(error)));
    }
    setSending(false);
    done();
  };
  return (
    <span class="change at-end">
      {problem !== undefined && (
        <span class="change-problem" role="status">
          {problem}
        </span>
      )}
      <button
        type="button"
        class="primary"
        disabled={isSending || outcome === 'pending'}
        title={outcome === 'pending' ? 'It is being delivered' : undefined}
        onClick={() => void send()}
      >
        Retry
      </button>
    </span>
  );
}

function Details({ delivery }: { readonly delivery: LogEntryWithBody }) {
  const { id, eventId, subscriptionId, datasetId, occurredAt, error, body } = delivery;
  return (
    <>
      {error !== null && <p class="problem-note">{deliveryErrorText(error)}</p>}
      <FactRow>
        <Fact name="occurred">
          <Clock time={occurredAt} />
        </Fact>
        <Fact name="dataset">
          {datasetId === null ? (
            '–'
          ) : (
            <a href={hashOf(deliveriesView({ dataset: datasetId }))}>{visibleLine(datasetId)}</a>
          )}
        </Fact>
        <Fact name="event">
          <a href={hashOf(deliveriesView({ eventId }))}>
            <code>{visibleLine(eventId)}</code>
          </a>
          <CopyButton text={eventId} what="id of the event" />
        </Fact>
        <Fact name="subscription">
          <a href={hashOf(deliveriesView({ subscription: subscriptionId }))}>
            <code>{visibleLine(subscriptionId)}</code>
          </a>
        </Fact>
        <Fact name="delivery">
          <code>{visibleLine(id)}</code>
          <CopyButton text={id} what="id of the delivery" />
        </Fact>
      </FactRow>
      <section aria-labelledby="attempts-title" class="delivery-part">
        <h2 id="attempts-title">Attempts</h2>
        <Attempts delivery={delivery} />
      </section>
      <section aria-labelledby="request-title" class="delivery-part">
        <h2 id="request-title">Request</h2>
        <RequestHead delivery={delivery} />
        <Body text={body} />
      </section>
    </>
  );
}

function Attempts({ delivery }: { readonly delivery: LogEntryWithBody }) {
  const { attempts, outcome } = delivery;
  if (attempts.length === 0)
    return (
      <p class="dim">
        {outcome === 'pending' ? 'The first attempt has not ended yet.' : 'None was made.'}
      </p>
    );
  return (
    <table class="rows attempts">
      <thead>
        <tr>
          <th class="end">Run</th>
          <th class="end">Attempt</th>
          <th>Time</th>
          <th class="end">Status</th>
          <th>Result</th>
          <th class="end">Duration</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt) => (
          <AttemptRow key={`${attempt.run}/${attempt.number}`} attempt={attempt} />
        ))}
      </tbody>
    </table>
  );
}

function AttemptRow({ attempt }: { readonly attempt: LogAttempt }) {
  const { run, number, time, status, error, durationMs } = attempt;
  const isSuccess = error === null && status !== null && status >= 200 && status < 300;
  return (
    <tr>
      <td class="number end" data-label="Run">
        {run}
      </td>
      <td class="number end" data-label="Attempt">
        {number}
      </td>
      <td data-label="Time">
        <Clock time={time} precise />
      </td>
      <td class="number end" data-label="Status">
        {status ?? ''}
      </td>
      <td data-label="Result">
        <span class={`outcome ${isSuccess ? 'is-Ok' : 'is-Failed'}`}>
          <span class="sign" aria-hidden="true">
            {isSuccess ? '●' : '✕'}
          </span>
          {isSuccess ? 'success' : visibleLine(error ?? 'no success')}
        </span>
        {error !== null && <span class="dim result-text">{attemptErrorText(error)}</span>}
      </td>
      <td class="number end" data-label="Duration">
        {attemptDurationText(durationMs)}
      </td>
    </tr>
  );
}

function RequestHead({
  delivery: { id, url, eventType },
}: {
  readonly delivery: LogEntryWithBody;
}) {
  return (
    <dl class="words request-head">
      <dt>POST</dt>
      <dd>
        <code>{visibleLine(url)}</code>
        <CopyButton text={url} what="URL" />
      </dd>
      <dt>Content-Type</dt>
      <dd>
        <code>application/json</code>
      </dd>
      <dt>X-Hook-Event</dt>
      <dd>
        <code>{visibleLine(eventType)}</code>
      </dd>
      <dt>X-Hook-Delivery</dt>
      <dd>
        <code>{visibleLine(id)}</code>
      </dd>
      <dt>X-Hook-Timestamp, X-Hook-Signature</dt>
      <dd class="dim">made anew for each attempt</dd>
    </dl>
  );
}

function Body({ text }: { readonly text: string }) {
  const [isRaw, setRaw] = useState(false);
  return (
    <>
      <div class="body-head">
        <h3>Body</h3>
        <div class="switch" role="group" aria-label="Body as">
          {[false, true].map((raw) => (
            <button
              key={String(raw)}
              type="button"
              aria-pressed={isRaw === raw}
              onClick={() => setRaw(raw)}
            >
              {raw ? 'Raw' : 'JSON'}
            </button>
          ))}
        </div>
        {isRaw && <CopyButton text={text} what="body" label="Copy" />}
      </div>
      {isRaw ? <TextBlock text={text} label="body" /> : <JsonTree text={text} label="body" />}
    </>
  );
}
