// SubscriptionForm: the controls of a subscription, each with its problem of the last refusal.
import type { DatasetStatus, Subscription, SubscribableEvent } from '@svc/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../loaded.ts';
import { Icon } from '../parts/icon.tsx';
import { hashOf } from '../route.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';
import { EVENT_WORDS, STATUS_EVENTS } from '../view/webhook-words.ts';
import { saveSubscription, webhookProblemText } from '../webhooks-api.ts';
import {
  draftProblems,
  hasEvent,
  NO_PROBLEMS,
  refusalProblems,
  subscriptionRequest,
  withEvent,
  type SubscriptionDraft,
  type SubscriptionProblems,
} from './subscription-draft.ts';
import { FieldLabel, FieldProblem, TextField } from './text-field.tsx';

interface PartProps {
  readonly draft: SubscriptionDraft;
  readonly problems: SubscriptionProblems;
  readonly change: (next: Partial<SubscriptionDraft>) => void;
}

const EVENTS = Object.keys(EVENT_WORDS) as readonly SubscribableEvent[];
const STATUSES = Object.keys(STATUS_EVENTS) as readonly DatasetStatus[];

export function SubscriptionForm({
  id,
  initial,
  saved,
}: {
  /** Undefined: the form creates a subscription. */
  readonly id: string | undefined;
  readonly initial: SubscriptionDraft;
  readonly saved: (subscription: Subscription) => void;
}) {
  const [draft, setDraft] = useState(initial);
  const [refused, setRefused] = useState<SubscriptionProblems>(NO_PROBLEMS);
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (refused !== NO_PROBLEMS) wrong?.focus();
  }, [refused]);
  const send = async () => {
    const found = draftProblems(draft);
    setRefused(found.byControl.size > 0 ? found : NO_PROBLEMS);
    if (found.byControl.size > 0 || isSending) return;
    setSending(true);
    const { signal } = stop.current;
    try {
      saved(await saveSubscription(id, subscriptionRequest(draft), signal));
    } catch (error) {
      if (signal.aborted) return;
      const problem = problemOf(error);
      setRefused(
        problem.status === 400
          ? refusalProblems(problem.message, draft)
          : {
              byControl: new Map(),
              others: othersOf(webhookProblemText(problem), problem.status, id),
            },
      );
    }
    setSending(false);
  };
  const parts: PartProps = {
    draft,
    problems: refused,
    change: (next) => setDraft((now) => ({ ...now, ...next })),
  };
  return (
    <form
      ref={form}
      class="route-form subscription-form"
      aria-label={id === undefined ? 'New subscription' : 'Subscription'}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        void send();
      }}
    >
      <TextField
        id="url"
        label="URL"
        hint="events are posted to it, over https or http"
        value={draft.url}
        problem={refused.byControl.get('url')}
        onChange={(url) => parts.change({ url })}
      />
      <EventsPart {...parts} />
      <FiltersPart {...parts} />
      <SigningPart {...parts} />
      <HeadersPart {...parts} />
      {refused.others.length > 0 && (
        <ul class="problem-note" role="alert">
          {refused.others.map((text) => (
            <li key={text}>{visibleText(text)}</li>
          ))}
        </ul>
      )}
      <div class="actions is-main">
        <button class="primary" disabled={isSending} title="Ctrl Enter">
          {isSending ? 'Sending…' : id === undefined ? 'Create' : 'Save'}
        </button>
        <a class="quiet" href={hashOf({ screen: 'webhooks' })}>
          Cancel
        </a>
      </div>
    </form>
  );
}

/** Returns the reasons of a request without an answer. The subscription may exist then, and its secret is lost. */
function othersOf(text: string, status: number, id: string | undefined): readonly string[] {
  const isUnknown = status === 0 || status === 502 || status === 504;
  if (id !== undefined || !isUnknown) return [text];
  return [
    text,
    'Look at the list before you send it again: if the subscription is there, rotate its secret.',
  ];
}

function EventsPart({ draft, problems, change }: PartProps) {
  const problem = problems.byControl.get('events');
  return (
    <fieldset aria-describedby={problem === undefined ? undefined : 'events-problem'}>
      <legend>Events</legend>
      <div class="event-choices">
        {EVENTS.map((event) => (
          <label class="check" key={event}>
            <input
              type="checkbox"
              checked={hasEvent(draft, event)}
              aria-invalid={problem !== undefined}
              onChange={({ currentTarget: { checked } }) =>
                change(withEvent(draft, event, checked))
              }
            />
            <code>{event}</code>
            <span class="hint-text">{EVENT_WORDS[event]}</span>
          </label>
        ))}
      </div>
      {problem !== undefined && <FieldProblem id="events" problem={problem} />}
    </fieldset>
  );
}

/** Focuses the control of a row that the user has just added. `idOf`: its id, by the index of the row. */
function useFocusOnAdded(rows: number, idOf: (row: number) => string): void {
  const before = useRef(rows);
  useEffect(() => {
    if (rows > before.current) document.getElementById(idOf(rows - 1))?.focus();
    before.current = rows;
  }, [rows]);
}

function FiltersPart({ draft, problems: { byControl }, change }: PartProps) {
  const { status, model, nameRegex, tags } = draft;
  const statusProblem = byControl.get('status');
  const tagsProblem = byControl.get('tags');
  const known: readonly string[] = STATUSES;
  useFocusOnAdded(tags.length, (row) => `tag-${row}`);
  return (
    <fieldset>
      <legend>
        Filters <span class="hint-text">a dataset must match every one that is filled in</span>
      </legend>
      <div class="fields is-grid">
        <div class={`field ${statusProblem === undefined ? '' : 'is-wrong'}`}>
          <FieldLabel id="status" label="Status" />
          <select
            id="status"
            value={status}
            aria-invalid={statusProblem !== undefined}
            onChange={(event) => change({ status: event.currentTarget.value })}
          >
            <option value="">Any</option>
            {[...known, ...(status === '' || known.includes(status) ? [] : [status])].map((one) => (
              <option key={one} value={one}>
                {visibleLine(one)}
              </option>
            ))}
          </select>
          {statusProblem !== undefined && <FieldProblem id="status" problem={statusProblem} />}
        </div>
        <TextField
          id="model"
          label="Model"
          value={model}
          problem={byControl.get('model')}
          onChange={(next) => change({ model: next })}
        />
      </div>
      <TextField
        id="name-regex"
        label="Name"
        hint="regular expression (RE2), found anywhere in it"
        value={nameRegex}
        problem={byControl.get('nameRegex')}
        onChange={(next) => change({ nameRegex: next })}
      />
      {tags.map((tag, at) => (
        <div class="row tag-row" key={at}>
          <TextField
            id={`tag-${at}`}
            label={at === 0 ? 'Tags, all of them' : `Tag ${at + 1}`}
            value={tag}
            problem={byControl.get(`tag-${at}`)}
            onChange={(next) => change({ tags: tags.with(at, next) })}
          />
          <div class="row-actions">
            <RemoveButton
              what={`tag ${at + 1}`}
              onClick={() => change({ tags: tags.toSpliced(at, 1) })}
            />
          </div>
        </div>
      ))}
      {tagsProblem !== undefined && <FieldProblem id="tags" problem={tagsProblem} />}
      <div>
        <button type="button" class="quiet add-row" onClick={() => change({ tags: [...tags, ''] })}>
          <Icon name="add" /> Tag
        </button>
      </div>
    </fieldset>
  );
}

function SigningPart({ draft: { over }, problems: { byControl }, change }: PartProps) {
  const problem = byControl.get('over');
  return (
    <fieldset>
      <legend>Signature</legend>
      <div>
        <span class="switch is-inline" role="group" aria-label="What is signed with the timestamp">
          {(['body', 'path'] as const).map((part) => (
            <button
              key={part}
              type="button"
              aria-pressed={over === part}
              onClick={() => change({ over: part })}
            >
              {part === 'body' ? 'Body' : 'Path'}
            </button>
          ))}
        </span>{' '}
        <span class="hint-text">
          {over === 'body'
            ? 'hmac-sha256 over the timestamp and the body'
            : 'hmac-sha256 over the timestamp and the path: it does not prove that the body is ours'}
        </span>
      </div>
      {problem !== undefined && <FieldProblem id="over" problem={problem} />}
    </fieldset>
  );
}

function HeadersPart({ draft: { headers }, problems: { byControl }, change }: PartProps) {
  const problem = byControl.get('headers');
  useFocusOnAdded(headers.length, (row) => `header-name-${row}`);
  const set = (at: number, name: string, value: string) =>
    change({ headers: headers.with(at, [name, value]) });
  return (
    <fieldset>
      <legend>
        Headers{' '}
        <span class="hint-text">
          sent too; {'{hmac_signature}'} and {'{hmac_timestamp}'} in values are filled in
        </span>
      </legend>
      {headers.map(([name, value], at) => (
        <div class="pair" key={at}>
          <TextField
            id={`header-name-${at}`}
            label="Header"
            value={name}
            problem={byControl.get(`header-${at}`)}
            onChange={(next) => set(at, next, value)}
          />
          <TextField
            id={`header-value-${at}`}
            label="Value"
            value={value}
            onChange={(next) => set(at, name, next)}
          />
          <RemoveButton
            what={`header ${name === '' ? at + 1 : visibleLine(name)}`}
            onClick={() => change({ headers: headers.toSpliced(at, 1) })}
          />
        </div>
      ))}
      {problem !== undefined && <FieldProblem id="headers" problem={problem} />}
      <div>
        <button
          type="button"
          class="quiet add-row"
          onClick={() => change({ headers: [...headers, ['', '']] })}
        >
          <Icon name="add" /> Header
        </button>
      </div>
    </fieldset>
  );
}

function RemoveButton({ what, onClick }: { readonly what: string; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Remove ${what}`}
      onClick={(event) => {
        // The focus would be lost with the row.
        event.currentTarget.closest('fieldset')?.querySelector<HTMLElement>('.add-row')?.focus();
        onClick();
      }}
    >
      <Icon name="remove" />
    </button>
  );
}
