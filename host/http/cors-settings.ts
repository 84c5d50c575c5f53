// CorsSettings: the permissions that the operator gives pages of other origins. An endpoint may ask for less,
// never for more.
import { originProblem } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import { isFieldName } from '@svc/kit/header-grammar';

export interface CorsSettings {
  /**
   * Origins whose pages may call the routes that declare `@cors`: `https://shop.example.com`, `https://*.example.com` for
   * every name one label below, or `*` alone for all origins. Without any there is no CORS.
   */
  readonly origins: readonly string[];
  /** Methods of the routes that these pages may call: GET (which includes HEAD), POST, PUT, PATCH, DELETE. */
  readonly methods: readonly string[];
  /** Request headers that these pages may send, besides those that every page may send. */
  readonly headers: readonly string[];
  /** Response headers that these pages may read, besides those that every page may read. */
  readonly exposedHeaders: readonly string[];
  /**
   * Whether requests of these pages may carry cookies, HTTP authentication and client certificates, and these pages
   * may read the answers. It cannot be combined with the origin `*`.
   */
  readonly credentials: boolean;
  /** How long a browser may remember the answer to a preflight, in seconds. */
  readonly maxAgeSeconds: number;
}

export const CORS_SETTINGS_DEFAULT: CorsSettings = {
  origins: [],
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  headers: ['content-type', 'idempotency-key'],
  exposedHeaders: ['retry-after'],
  credentials: false,
  maxAgeSeconds: 600,
};

const ENTRIES_MAX = 100;

/** Ranges of the number, and of the lengths of the lists. */
export const CORS_SETTINGS_RANGE = {
  origins: [0, ENTRIES_MAX],
  methods: [0, ENTRIES_MAX],
  headers: [0, ENTRIES_MAX],
  exposedHeaders: [0, ENTRIES_MAX],
  maxAgeSeconds: [0, 86_400],
} as const;

/** The entry for every origin. It is never compared with an origin, so it admits none that sends credentials. */
export const ANY_ORIGIN = '*';
const METHODS: ReadonlySet<string> = new Set(CORS_SETTINGS_DEFAULT.methods);

/**
 * Checks the settings. Throws SVC_SETTING_INVALID for an entry that is not an origin, method or header name, and for
 * credentials with the origin `*`.
 */
export function checkCorsSettings(settings: CorsSettings): void {
  const { origins, methods, headers, exposedHeaders, credentials } = settings;
  for (const origin of origins) {
    const problem = origin === ANY_ORIGIN ? undefined : originProblem(origin.toLowerCase());
    if (problem !== undefined) throw invalid('origins', `'${origin}' ${problem}.`);
  }
  if (origins.includes(ANY_ORIGIN) && origins.length > 1)
    throw invalid('origins', "'*' allows every origin: leave the others out, or '*'.");
  if (origins.includes(ANY_ORIGIN) && credentials)
    throw invalid(
      'credentials',
      "it cannot be 'true' while svc.http.cors.origins is '*': every page could act as the user who is logged in. " +
        'Name the origins.',
    );
  for (const method of methods)
    if (!METHODS.has(method.toUpperCase()))
      throw invalid('methods', `'${method}' is none of ${[...METHODS].join(', ')}.`);
  for (const [name, list] of [
    ['headers', headers] as const,
    ['exposed-headers', exposedHeaders] as const,
  ])
    for (const header of list)
      if (!isFieldName(header) || header === '*')
        throw invalid(
          name,
          `'${header}' is not the name of a header. Name each, such as authorization.`,
        );
}

function invalid(key: string, problem: string): SvcError {
  return new SvcError('SVC_SETTING_INVALID', `The setting svc.http.cors.${key}: ${problem}`);
}
