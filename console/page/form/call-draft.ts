// CallDraft: a request to a route as the user prepares it, and the request that is sent. The functions are pure.
import type { ServiceRoute, TypeSchema } from '@svc/contract';
import type { CallerGrants, CallRequest } from '../api.ts';
import { readJson } from '../view/json-value.ts';
import {
  draftJson,
  draftText,
  emptyDraft,
  type Draft,
  type RecordSchema,
  type Types,
} from './draft.ts';
import { draftProblems, type DraftProblem } from './draft-problems.ts';
import { draftOfJson } from './draft-of-json.ts';

export interface CallDraft {
  readonly parameters: readonly { readonly name: string; readonly value: Draft }[];
  /** Declared parameters of the query string, as a record; undefined if the route declares none. */
  readonly declaredQuery: Draft | undefined;
  /** Undeclared part of the query string, as the user typed it; a leading '?' is not sent. */
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Draft of a JSON body with a declared type; undefined if the route has no such body. */
  readonly body: Draft | undefined;
  /** Body as the user typed it: JSON, text, or bytes as base64. It is sent unless the form provides the body. */
  readonly text: string;
  readonly mode: 'form' | 'json';
  /** Caller of a development token; without a subject, the request has no token. Roles and scopes have blanks between them. */
  readonly sendAs: {
    readonly subject: string;
    readonly roles: string;
    readonly scopes: string;
  };
}

const IDEMPOTENCY_KEY = 'idempotency-key';
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Returns the initial form of a route; it contains nothing that would be sent without being displayed. */
export function emptyCall(route: ServiceRoute, types: Types): CallDraft {
  const schema = bodySchema(route);
  const body = schema === undefined ? undefined : emptyDraft(schema, types);
  return {
    parameters: route.parameters.map(({ name, schema: type }) => ({
      name,
      value: emptyDraft(type as TypeSchema, types),
    })),
    declaredQuery: emptyQuery(route, types),
    query: '',
    headers: [],
    body,
    text: body === undefined ? '' : draftText(body, '  '),
    mode: body === undefined ? 'json' : 'form',
    sendAs: { subject: '', roles: '', scopes: '' },
  };
}

/**
 * Returns a call with example values for the parameters that are texts, numbers or enums; all else is that of the
 * initial form. The page displays the call as a curl command, which the user copies and then changes.
 */
export function exampleCall(route: ServiceRoute, types: Types): CallDraft {
  const call = emptyCall(route, types);
  const parameters = call.parameters.map(({ name, value }, at) => ({
    name,
    value: exampleParameter(value, name, route.parameters[at]?.schema as TypeSchema),
  }));
  return { ...call, parameters, declaredQuery: exampleQuery(call.declaredQuery, route) };
}

function exampleQuery(draft: Draft | undefined, route: ServiceRoute): Draft | undefined {
  const schema = querySchema(route);
  if (draft?.kind !== 'record' || schema === undefined) return draft;
  const fields = draft.fields.map((field) => ({
    ...field,
    value: exampleParameter(field.value, field.name, schema.properties[field.name] as TypeSchema),
  }));
  return { ...draft, fields };
}

function exampleParameter(value: Draft, name: string, schema: TypeSchema): Draft {
  if ('enum' in schema && schema.enum !== undefined)
    return { kind: 'text', text: schema.enum[0] ?? '' };
  if (value.kind === 'text') return { kind: 'text', text: name };
  if (value.kind !== 'number' && value.kind !== 'big') return value;
  const [least, most] = 'minimum' in schema ? [schema.minimum, schema.maximum] : [1, 1];
  return { kind: value.kind, text: String(Math.min(Math.max(least, 1), most)) };
}

/**
 * Returns the declared query as a record type; undefined if the route declares no query. The type of a nullable
 * parameter has no null, because a query string cannot contain null: the parameter is left out instead.
 */
export function querySchema({ query }: ServiceRoute): RecordSchema | undefined {
  if (query === undefined) return undefined;
  const properties = query.map(({ name, schema }) => {
    const type = schema as TypeSchema;
    if (!('anyOf' in type)) return [name, type] as const;
    const { description, anyOf } = type;
    return [name, description === undefined ? anyOf[0] : { ...anyOf[0], description }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: query.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Returns the defaults of query parameters by name, as texts for display. */
export function queryDefaults({ query = [] }: ServiceRoute): ReadonlyMap<string, string> {
  return new Map(
    query.flatMap(({ name, default: value }) =>
      value === undefined ? [] : [[name, defaultText(value)]],
    ),
  );
}

/** Returns a default as text. A string that is empty or has spaces at its ends gets quotes, which make it visible. */
function defaultText(value: unknown): string {
  if (Array.isArray(value)) return value.map(defaultText).join(', ') || 'no items';
  if (typeof value !== 'string' || value.trim() !== value || value === '')
    return JSON.stringify(value);
  return value;
}

/** Returns the initial declared query with optional parameters left out; undefined if the route declares no query. */
function emptyQuery(route: ServiceRoute, types: Types): Draft | undefined {
  const schema = querySchema(route);
  const draft = schema && emptyDraft(schema, types);
  if (draft?.kind !== 'record') return undefined;
  const fields = draft.fields.map((field) => ({
    ...field,
    isLeftOut: !schema!.required.includes(field.name),
  }));
  return { kind: 'record', fields };
}

export function bodySchema(route: ServiceRoute): TypeSchema | undefined {
  if (route.body?.kind !== 'json') return undefined;
  return route.body.schema as TypeSchema | undefined;
}

/** Adds or replaces the header `idempotency-key`, with which a repeated request has its effect only once. */
export function withIdempotencyKey(call: CallDraft, key: string): CallDraft {
  const others = call.headers.filter(([name]) => name.toLowerCase() !== IDEMPOTENCY_KEY);
  return { ...call, headers: [[IDEMPOTENCY_KEY, key], ...others] };
}

export function takesIdempotencyKey({ method }: ServiceRoute): boolean {
  return WRITES.has(method);
}

/** Converts a call between form and text. Returns undefined if the text does not fit the form. */
export function inMode(
  call: CallDraft,
  mode: CallDraft['mode'],
  schema: TypeSchema,
  types: Types,
): CallDraft | undefined {
  if (mode === call.mode || call.body === undefined) return call;
  if (mode === 'json') return { ...call, mode, text: draftText(call.body, '  ') };
  const reading = readJson(call.text);
  if (!reading.ok) return undefined;
  const { draft, problems } = draftOfJson(schema, reading.value, types);
  return problems.length > 0 ? undefined : { ...call, mode, body: draft };
}

/** A problem in one part of a call, with its path within that part. */
export interface CallProblem extends DraftProblem {
  readonly part: 'path' | 'query' | 'header' | 'body';
}

export function callProblems(call: CallDraft, route: ServiceRoute, types: Types): CallProblem[] {
  const problems: CallProblem[] = call.parameters.flatMap(({ name, value }, at) => {
    const schema = route.parameters[at]?.schema as TypeSchema | undefined;
    const found = schema === undefined ? [] : draftProblems(schema, value, types, name);
    if (found.length === 0 && parameterText(value) === '')
      found.push({ path: name, message: 'must not be empty', isBlank: true });
    return found.map((problem) => ({ ...problem, part: 'path' as const }));
  });
  const query = querySchema(route);
  if (query !== undefined && call.declaredQuery !== undefined)
    for (const problem of draftProblems(query, call.declaredQuery, types))
      problems.push({ ...problem, part: 'query' });
  for (const [name] of call.headers)
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
      problems.push({ part: 'header', path: name, message: 'is not a valid header name' });
  return [
    ...problems,
    ...bodyProblems(call, route, types).map((one) => ({ ...one, part: 'body' as const })),
  ];
}

function bodyProblems(call: CallDraft, route: ServiceRoute, types: Types): readonly DraftProblem[] {
  if (route.body?.kind === 'bytes')
    return draftProblems(
      { type: 'string', contentEncoding: 'base64' },
      { kind: 'text', text: call.text },
      types,
    );
  if (route.body?.kind !== 'json') return [];
  const schema = bodySchema(route);
  if (call.mode === 'form' && call.body !== undefined && schema !== undefined)
    return draftProblems(schema, call.body, types);
  if (call.text.trim() === '') return [{ path: '', message: 'is not filled in', isBlank: true }];
  const reading = readJson(call.text);
  if (!reading.ok) return [{ path: '', message: reading.problem }];
  if (schema === undefined) return [];
  const read = draftOfJson(schema, reading.value, types);
  return read.problems.length > 0 ? read.problems : draftProblems(schema, read.draft, types);
}

/** Returns the request to be sent. */
export function callRequest(call: CallDraft, route: ServiceRoute): CallRequest {
  let { path } = route;
  for (const { name, value } of call.parameters)
    path = path.replace(`{${name}}`, () => encodeURIComponent(parameterText(value).toWellFormed()));
  const query = [...declaredPairs(call), encodedQuery(call.query)].filter((part) => part !== '');
  if (query.length > 0) path += `?${query.join('&')}`;
  const { body } = route;
  const headers = call.headers.filter(([name]) => name !== '');
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  if (body !== undefined && !isTyped) headers.push(['content-type', contentType(body.kind)]);
  return {
    method: route.method,
    path,
    headers,
    body: body === undefined ? null : bodyText(call, body.kind),
    bodyIsBase64: body?.kind === 'bytes',
    ...(route.bearer === true && call.sendAs.subject !== '' && { sendAs: callerOf(call) }),
  };
}

function callerOf({ sendAs: { subject, roles, scopes } }: CallDraft): CallerGrants {
  return { subject, roles: wordsOf(roles), scopes: wordsOf(scopes) };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Encodes the declared query; a list repeats its name for each item. */
function declaredPairs({ declaredQuery }: CallDraft): string[] {
  if (declaredQuery?.kind !== 'record') return [];
  return declaredQuery.fields
    .filter(({ isLeftOut }) => !isLeftOut)
    .flatMap(({ name, value }) =>
      (value.kind === 'list' ? value.items : [value]).map((one) =>
        [name, parameterText(one)].map((text) => encodeURIComponent(text.toWellFormed())).join('='),
      ),
    );
}

/** Removes a leading '?', and encodes only the characters that a request cannot carry. */
function encodedQuery(query: string): string {
  return query
    .replace(/^\?/, '')
    .toWellFormed()
    .replaceAll(/[^\x21\x22\x24-\x7e]/gu, encodeURIComponent);
}

function bodyText(call: CallDraft, kind: string): string {
  if (kind === 'json' && call.mode === 'form' && call.body !== undefined)
    return draftText(call.body);
  return call.text;
}

function contentType(kind: 'json' | 'text' | 'bytes'): string {
  if (kind === 'json') return 'application/json';
  return kind === 'text' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

function parameterText(draft: Draft): string {
  const json = draftJson(draft);
  if (json.kind === 'string') return json.value;
  return json.kind === 'number' || json.kind === 'literal' ? json.text : draftText(draft);
}
