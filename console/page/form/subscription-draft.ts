// SubscriptionDraft: what the user has typed into the form of a subscription, the request that it becomes, and the problems
// of a refused request by the controls that they are about. The functions are pure.
import type { Subscription, SubscribableEvent, SubscriptionRequest } from '@svc/client';
import { STATUS_EVENTS } from '../view/webhook-words.ts';

export interface SubscriptionDraft {
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  /** Empty: datasets of any status. */
  readonly status: string;
  readonly model: string;
  readonly nameRegex: string;
  /** Empty ones are not sent. */
  readonly tags: readonly string[];
  readonly over: 'body' | 'path';
  /** A pair of empty texts is not sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export const EMPTY_SUBSCRIPTION: SubscriptionDraft = {
  url: '',
  events: ['dataset.*'],
  status: '',
  model: '',
  nameRegex: '',
  tags: [],
  over: 'body',
  headers: [],
};

/** Problems by the controls that they are about: 'url', 'tag-0'. Those in `others` are about none of them. */
export interface SubscriptionProblems {
  readonly byControl: ReadonlyMap<string, string>;
  readonly others: readonly string[];
}

export const NO_PROBLEMS: SubscriptionProblems = { byControl: new Map(), others: [] };

const ALL_OF_DATASETS = 'dataset.*';
/** The types that `dataset.*` contains. */
const OF_DATASETS: readonly SubscribableEvent[] = Object.values(STATUS_EVENTS);

export function subscriptionDraft(subscription: Subscription): SubscriptionDraft {
  const { url, events, filters, signing, headers } = subscription;
  const { status = '', model = '', nameRegex = '', tags = [] } = filters;
  const { over } = signing;
  return { url, events, status, model, nameRegex, tags, over, headers: Object.entries(headers) };
}

/** Returns whether the events of a draft contain a type: `dataset.*` contains the types of datasets. */
export function hasEvent({ events }: SubscriptionDraft, event: SubscribableEvent): boolean {
  return (
    events.includes(event) || (events.includes(ALL_OF_DATASETS) && OF_DATASETS.includes(event))
  );
}

/** Adds or removes a type of events. Types that `dataset.*` contains are not listed beside it. */
export function withEvent(
  draft: SubscriptionDraft,
  event: SubscribableEvent,
  isChosen: boolean,
): SubscriptionDraft {
  if (isChosen) {
    const others = draft.events.filter(
      (one) => one !== event && !(event === ALL_OF_DATASETS && OF_DATASETS.includes(one)),
    );
    return { ...draft, events: [...others, event] };
  }
  const isPart = OF_DATASETS.includes(event) && draft.events.includes(ALL_OF_DATASETS);
  const listed = isPart
    ? draft.events.flatMap((one) => (one === ALL_OF_DATASETS ? OF_DATASETS : [one]))
    : draft.events;
  return { ...draft, events: listed.filter((one) => one !== event) };
}

/** Returns the request; blank rows are left out. */
export function subscriptionRequest(draft: SubscriptionDraft): SubscriptionRequest {
  const { url, events, status, model, nameRegex, over } = draft;
  const tags = draft.tags.filter((tag) => tag !== '');
  const filters = {
    ...(status !== '' && { status }),
    ...(model !== '' && { model }),
    ...(nameRegex !== '' && { nameRegex }),
    ...(tags.length > 0 && { tags }),
  } as NonNullable<SubscriptionRequest['filters']>;
  return {
    url: url.trim(),
    events,
    filters,
    signing: { method: 'hmac-sha256', over },
    headers: Object.fromEntries(draft.headers.filter(isFilledIn)),
  };
}

/** Returns the problems that the request cannot show: an object has each name once. */
export function draftProblems({ headers }: SubscriptionDraft): SubscriptionProblems {
  const byControl = new Map<string, string>();
  const names = new Set<string>();
  for (const [at, [name]] of headers.entries()) {
    if (names.has(name)) byControl.set(`header-${at}`, 'is the same header once more');
    if (name !== '') names.add(name);
  }
  return { byControl, others: [] };
}

/** Returns the problems of a refusal, which has a line `path: reason` for each. */
export function refusalProblems(reason: string, draft: SubscriptionDraft): SubscriptionProblems {
  const byControl = new Map<string, string>();
  const others: string[] = [];
  for (const line of reason.split('\n')) {
    const found = problemOf(line, draft);
    if (found === undefined) others.push(line);
    else {
      const [control, text] = found;
      const before = byControl.get(control);
      byControl.set(control, before === undefined ? text : `${before}; ${text}`);
    }
  }
  // The service says to leave the list out, which the form cannot.
  if (draft.events.length === 0 && byControl.has('events'))
    byControl.set('events', 'choose at least one');
  return { byControl, others };
}

function problemOf(line: string, draft: SubscriptionDraft): readonly [string, string] | undefined {
  for (const [path, control] of controlsByPath(draft))
    if (line.startsWith(`${path}: `)) return [control, line.slice(path.length + 2)];
  const [, control, text] = /^(events|tags|headers)\/[^:]*: (.*)$/.exec(line) ?? [];
  return control === undefined || text === undefined ? undefined : [control, text];
}

/** Returns the controls by the paths of the request. A path that begins with another one comes before it. */
function controlsByPath(draft: SubscriptionDraft): (readonly [path: string, control: string])[] {
  const tags = [...draft.tags.entries()].filter(([, tag]) => tag !== '');
  const headers = [...draft.headers.entries()].filter(([, header]) => isFilledIn(header));
  return [
    ...headers
      .map(([row, [name]]) => [`headers/${pointerSegment(name)}`, `header-${row}`] as const)
      .toSorted(([one], [other]) => other.length - one.length),
    ...tags.map(([row], at) => [`filters/tags/${at}`, `tag-${row}`] as const),
    ['filters/tags', 'tags'],
    ['filters/status', 'status'],
    ['filters/model', 'model'],
    ['filters/nameRegex', 'nameRegex'],
    ['signing/over', 'over'],
    ['headers', 'headers'],
    ['events', 'events'],
    ['url', 'url'],
  ];
}

function isFilledIn([name, value]: readonly [string, string]): boolean {
  return name !== '' || value !== '';
}

/** Maximum characters of a name in a path of the refusal. */
const NAME_SHOWN_MAX = 256;

/** Escapes a name as in a JSON pointer (RFC 6901). */
function pointerSegment(name: string): string {
  return name.slice(0, NAME_SHOWN_MAX).replaceAll('~', '~0').replaceAll('/', '~1');
}
