// Api: sends every request of the page; each goes to the console's own server. A failed request becomes an
// ApiProblem, unless the caller has aborted it. Replies that are displayed unchanged stay text, so that their numbers
// stay exact.

export class ApiProblem extends Error {
  /** HTTP status; 0 if there is no valid response, as when the console's own server does not answer. */
  readonly status: number;
  /** Details of the problem, as the service sent them; undefined if there are none. */
  readonly details: unknown;

  constructor(status: number, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

export interface CallRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Body as text, or as base64 if `bodyIsBase64`; null for a request without a body. */
  readonly body: string | null;
  readonly bodyIsBase64: boolean;
  /** Caller whom a development token names, which the console's server makes; absent: the request has none. */
  readonly sendAs?: CallerGrants;
}

export interface CallerGrants {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Body as text, or as base64 if `bodyIsBase64`. */
  readonly body: string;
  readonly bodyIsBase64: boolean;
  /** Time from sending the request to the end of its response, without the console's own checks. */
  readonly durationMs: number;
  /** Trace that the console has begun for the request. */
  readonly traceId: string;
}

export async function getJson<T>(path: string, signal: AbortSignal): Promise<T> {
  return JSON.parse(await getText(path, signal)) as T;
}

export function getText(path: string, signal: AbortSignal): Promise<string> {
  return answerOf(path, { signal });
}

/** Returns the console's path for a service's introspection endpoint: `observed('ab12', 'traces', traceId)`. */
export function observed(instanceId: string, ...segments: readonly string[]): string {
  const path = segments.map(encodeURIComponent).join('/');
  return `${servicePath(instanceId)}/observability/${path}`;
}

export async function sendCall(
  instanceId: string,
  request: CallRequest,
  signal: AbortSignal,
): Promise<CallAnswer> {
  return sendJson('POST', `${servicePath(instanceId)}/call`, request, signal);
}

/** Changes a service: `path` is one of its control socket, such as '/timers/retry'. Resolves with whether there was something to change. */
export async function sendChange(
  instanceId: string,
  path: string,
  change: object,
  signal: AbortSignal,
): Promise<boolean> {
  const { changed } = await sendJson<{ readonly changed: boolean }>(
    'POST',
    `${servicePath(instanceId)}/control${path}`,
    change,
    signal,
  );
  return changed;
}

/** Sends a request that may change something: it has the header that no other page can send. */
export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  value: object,
  signal: AbortSignal,
): Promise<T> {
  const text = await answerOf(path, {
    method,
    headers: { 'content-type': 'application/json', 'x-svc-console': '1' },
    body: JSON.stringify(value),
    signal,
  });
  return JSON.parse(text) as T;
}

function servicePath(instanceId: string): string {
  return `/api/services/${encodeURIComponent(instanceId)}`;
}

async function answerOf(path: string, init: RequestInit): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, init);
    text = await response.text();
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiProblem(0, 'The console has stopped');
  }
  if (response.ok) return text;
  const { error, details } = problemIn(text);
  throw new ApiProblem(
    response.status,
    typeof error === 'string' ? error : response.statusText,
    details,
  );
}

function problemIn(text: string): { readonly error?: unknown; readonly details?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}
