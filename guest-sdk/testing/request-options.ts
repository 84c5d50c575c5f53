// RequestOptions: what a test sends beside method and path, and its encoding as a target, headers and a body.
import { type Caller, GATEWAY, INTERNET, LOCAL } from '@svc/host/tools';
import { jsonText } from './json-value.ts';

/**
 * The caller: a client from the internet (the default), the same under the mount of a web-hosted service (`Gateway`), a
 * developer on the same machine, or a service: of the tested
 * project (`service orders`) or of another one (`service billing/orders`).
 */
export type CallerName = 'internet' | 'local' | 'Gateway' | `service ${string}`;

/** Project of the module, for its access rules. */
export const PROJECT = 'own-project';

type QueryValue = string | number | bigint | boolean | Date;

export interface RequestOptions {
  /**
   * Query parameters, which are encoded and added to the path. A list repeats its name for each item; undefined is
   * left out.
   */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Body: text, bytes, or a value that is sent as JSON text. A header `content-type` replaces the type of these. */
  readonly body?: unknown;
  readonly caller?: CallerName;
}

/** Returns the path with the query parameters. */
export function withQuery(path: string, query: RequestOptions['query'] = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat() as readonly (QueryValue | undefined)[])
      if (one !== undefined)
        pairs.append(name, one instanceof Date ? one.toISOString() : String(one));
  if (pairs.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.toString()}`;
}

/** Returns the headers and the body of a request. */
export function contentOf(method: string, { headers = {}, body }: RequestOptions) {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
  );
  const has = (wanted: string) => list.some(([name]) => name.toLowerCase() === wanted);
  if (!has('host')) list.unshift(['host', 'test']);
  if (body === undefined) {
    // Clients send a length with every method that may have a body.
    if (/^(POST|PUT|PATCH)$/.test(method) && !has('content-length'))
      list.push(['content-length', '0']);
    return { headers: list, body };
  }
  const [type, content] =
    typeof body === 'string'
      ? ['text/plain', body]
      : body instanceof Uint8Array
        ? ['application/octet-stream', body]
        : ['application/json', jsonText(body)];
  if (!has('content-type')) list.push(['content-type', type]);
  if (!has('content-length') && !has('transfer-encoding'))
    list.push(['content-length', String(Buffer.byteLength(content))]);
  return { headers: list, body: content };
}

export function callerOf(name: CallerName): Caller {
  if (name === 'internet') return INTERNET;
  if (name === 'local') return LOCAL;
  if (name === 'Gateway') return GATEWAY;
  const [first = '', second] = name.slice('service '.length).split('/');
  return second === undefined
    ? { kind: 'service', project: PROJECT, service: first }
    : { kind: 'service', project: first, service: second };
}
