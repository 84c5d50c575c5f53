// SubscriptionRequest: the checks of a request that creates or changes a subscription. They gather every problem, and what has none has the
// type that the rest of the service relies on.
import {
  DATASET_STATUSES,
  DATASET_TAGS_MAX,
  DATASET_WORD_LENGTH_MAX,
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  type Problem,
  Problems,
  SIGNED_PARTS,
  SIGNING_METHODS,
  SUBSCRIBABLE_EVENTS,
  type SubscribableEvent,
  charactersOf,
  isRecord,
  quoted,
} from '@svc/client';
import { checkHeaders } from './header-problems.ts';
import { patternProblem } from './name-pattern.ts';
import type { FilterRequest, Signing, SubscriptionContent } from './subscription-content.ts';
import { urlProblem, type AddressJudge } from './url-problem.ts';

/** A value, or every problem of the request that should have given it, sorted. */
export type Checked<Value> =
  | { readonly isValid: true; readonly value: Value }
  | { readonly isValid: false; readonly problems: readonly Problem[] };

const FIELDS = ['url', 'events', 'filters', 'signing', 'headers'] as const;
const FILTERS = ['status', 'nameRegex', 'tags', 'model'] as const;
const SIGNING = ['method', 'over'] as const;
const ROTATION = ['gracePeriodSeconds'] as const;
const EVENTS_DEFAULT: readonly SubscribableEvent[] = ['dataset.*'];
const SIGNING_DEFAULT: Signing = { method: 'hmac-sha256', over: 'body' };
/** Objects in objects of a subscription. */
const DEPTH_MAX = 2;
/** Fields that one problem names. */
const NAMED_MAX = 8;

/** Checks a request that gives a whole subscription. `value`: parsed JSON. */
export function checkedContent(
  value: unknown,
  addresses: AddressJudge,
): Checked<SubscriptionContent> {
  const problems = new Problems();
  if (!isObjectOf(FIELDS, value, problems)) return checked(problems, undefined);
  const { url, events, filters, signing, headers } = value;
  checkUrl(url, addresses, problems.at('url'));
  if (events !== undefined) checkEvents(events, problems.at('events'));
  if (filters !== undefined) checkFilters(filters, problems.at('filters'));
  if (signing !== undefined) checkSigning(signing, problems.at('signing'));
  if (headers !== undefined) checkHeaders(headers, problems.at('headers'));
  return checked(problems, () => contentOf(value));
}

/** Checks a merge patch (RFC 7396) of a subscription: it may name nothing that a subscription does not have, and what comes of it has to be one. */
export function checkedPatch(
  content: SubscriptionContent,
  patch: unknown,
  addresses: AddressJudge,
): Checked<SubscriptionContent> {
  const problems = new Problems();
  if (isObjectOf(FIELDS, patch, problems)) {
    const { filters, signing } = patch;
    // A field that is null is removed, so that no check of the result would find it.
    if (isRecord(filters)) isObjectOf(FILTERS, filters, problems.at('filters'));
    if (isRecord(signing)) isObjectOf(SIGNING, signing, problems.at('signing'));
  }
  const ofPatch = problems.sorted();
  if (!isRecord(patch)) return { isValid: false, problems: ofPatch };
  const result = checkedContent(merged({ ...content }, patch), addresses);
  if (ofPatch.length === 0) return result;
  const known = new Set(ofPatch.map(({ path }) => path));
  const others = result.isValid ? [] : result.problems.filter(({ path }) => !known.has(path));
  return { isValid: false, problems: [...ofPatch, ...others] };
}

/** Checks the body of a rotation, which may be absent; gives the seconds for which the former secret counts. */
export function checkedGracePeriod(value: unknown): Checked<number> {
  if (value === undefined) return { isValid: true, value: GRACE_SECONDS_DEFAULT };
  const problems = new Problems();
  if (!isObjectOf(ROTATION, value, problems)) return checked(problems, undefined);
  const { gracePeriodSeconds: seconds = GRACE_SECONDS_DEFAULT } = value;
  if (
    !Number.isInteger(seconds) ||
    (seconds as number) < 0 ||
    (seconds as number) > GRACE_SECONDS_MAX
  )
    problems.at('gracePeriodSeconds').add(`is not a whole number from 0 to ${GRACE_SECONDS_MAX}`);
  return checked(problems, () => seconds as number);
}

function checked<Value>(problems: Problems, value: (() => Value) | undefined): Checked<Value> {
  const found = problems.sorted();
  return found.length > 0 || value === undefined
    ? { isValid: false, problems: found }
    : { isValid: true, value: value() };
}

/** Reports a value that is no object, and the fields that it may not have. */
function isObjectOf<const Field extends string>(
  fields: readonly Field[],
  value: unknown,
  problems: Problems,
): value is Readonly<Partial<Record<Field, unknown>>> {
  if (!isRecord(value)) {
    problems.add(`is not an object with ${fields.join(', ')}`);
    return false;
  }
  const known: readonly string[] = fields;
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    problems.add(
      `has the unknown ${unknown.length === 1 ? 'field' : 'fields'} ${listed(unknown)}: the fields are ${fields.join(', ')}`,
    );
  return true;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_MAX).map(quoted).join(', ');
  const more = names.length - NAMED_MAX;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function checkUrl(value: unknown, addresses: AddressJudge, problems: Problems): void {
  if (value === undefined) problems.add('is missing');
  else if (typeof value !== 'string') problems.add('is not a text');
  else {
    const reason = urlProblem(value, addresses);
    if (reason !== undefined) problems.add(reason);
  }
}

function checkEvents(value: unknown, problems: Problems): void {
  if (!Array.isArray(value)) problems.add('is not a list of events');
  else if (value.length === 0)
    problems.add('is empty: leave it out for all events of datasets, or list some');
  else if (value.length > SUBSCRIBABLE_EVENTS.length)
    problems.add(`has ${value.length} events, and there are ${SUBSCRIBABLE_EVENTS.length}`);
  else
    for (const [index, event] of value.entries())
      checkWord(event, SUBSCRIBABLE_EVENTS, problems.at(index));
}

function checkFilters(value: unknown, problems: Problems): void {
  if (!isObjectOf(FILTERS, value, problems)) return;
  const { status, nameRegex, tags, model } = value;
  if (status !== undefined) checkWord(status, DATASET_STATUSES, problems.at('status'));
  if (nameRegex !== undefined && isText(nameRegex, problems.at('nameRegex'))) {
    const reason = patternProblem(nameRegex);
    if (reason !== undefined) problems.at('nameRegex').add(reason);
  }
  if (tags !== undefined) checkTags(tags, problems.at('tags'));
  if (model !== undefined) isShortText(model, problems.at('model'));
}

function checkTags(value: unknown, problems: Problems): void {
  if (!Array.isArray(value)) problems.add('is not a list of texts');
  else if (value.length > DATASET_TAGS_MAX)
    problems.add(`has ${value.length} tags, and may have ${DATASET_TAGS_MAX}`);
  else for (const [index, tag] of value.entries()) isShortText(tag, problems.at(index));
}

function checkSigning(value: unknown, problems: Problems): void {
  if (!isObjectOf(SIGNING, value, problems)) return;
  const { method, over } = value;
  if (method !== undefined) checkWord(method, SIGNING_METHODS, problems.at('method'));
  if (over !== undefined) checkWord(over, SIGNED_PARTS, problems.at('over'));
}

function checkWord(value: unknown, words: readonly string[], problems: Problems): void {
  if (typeof value !== 'string') problems.add('is not a text');
  else if (!words.includes(value)) problems.add(`is ${quoted(value)}: use ${words.join(' or ')}`);
}

function isText(value: unknown, problems: Problems): value is string {
  if (typeof value === 'string' && value.isWellFormed()) return true;
  problems.add(
    typeof value === 'string'
      ? 'has half of a surrogate pair, which is no character'
      : 'is not a text',
  );
  return false;
}

function isShortText(value: unknown, problems: Problems): void {
  if (isText(value, problems) && charactersOf(value) > DATASET_WORD_LENGTH_MAX)
    problems.add(`is longer than ${DATASET_WORD_LENGTH_MAX} characters`);
}

/** `value`: a request without problems. The fields of the result are always in the same order. */
function contentOf(value: unknown): SubscriptionContent {
  const {
    url,
    events = EVENTS_DEFAULT,
    filters = {},
    signing = {},
    headers = {},
  } = value as Pick<SubscriptionContent, 'url'> & Partial<SubscriptionContent>;
  const { method, over } = { ...SIGNING_DEFAULT, ...signing };
  return {
    url,
    events: [...new Set(events)],
    filters: filterOf(filters),
    signing: { method, over },
    headers: { ...headers },
  };
}

function filterOf({ status, nameRegex, tags, model }: FilterRequest): FilterRequest {
  return {
    ...(status !== undefined && { status }),
    ...(nameRegex !== undefined && { nameRegex }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(model !== undefined && { model }),
  };
}

/**
 * Applies a merge patch (RFC 7396). Only the fields of a subscription that are objects have parts: what is deeper in the patch is
 * no part of a subscription, and the check of the result reports it.
 */
function merged(target: Readonly<Record<string, unknown>>, patch: unknown, depth = 0): unknown {
  if (!isRecord(patch) || depth === DEPTH_MAX) return patch;
  const result = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const before = result.get(name);
    if (value === null) result.delete(name);
    else result.set(name, merged(isRecord(before) ? before : {}, value, depth + 1));
  }
  return Object.fromEntries(result);
}
