// DocumentedAnswers: holds each answer of a control plane against the OpenAPI document: its status, its headers and its body.
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument, ROUTES, type Route } from '@svc/client';

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An answer that the document does not have. */
export class UndocumentedAnswer extends Error {
  override readonly name = 'UndocumentedAnswer';
}

interface DocumentedResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
type Responses = Readonly<Record<string, DocumentedResponse>>;
interface Document {
  readonly paths: Readonly<Record<string, Record<string, { readonly responses: Responses }>>>;
  readonly components: { readonly responses: Responses };
}

/** Answers to what is no request of a route yet: its headers are too long. */
const OF_THE_SERVER: ReadonlySet<number> = new Set([431]);
const DOCUMENT = openApiDocument('0.1.0') as unknown as Document;
const ajv = addFormats.default(new Ajv.Ajv2020({ strict: false }));
ajv.addSchema(DOCUMENT, 'api');
const validators = new Map<string, ValidateFunction>();
const PATHS = Object.values<Route>(ROUTES).map(({ method, path }) => ({
  method,
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Throws UndocumentedAnswer if the document does not have the answer. `target`: path and query of the request. */
export function expectDocumented(method: string, target: string, answer: ReceivedAnswer): void {
  const problem = problemOf(method, target, answer);
  if (problem === undefined) return;
  const { status, text } = answer;
  throw new UndocumentedAnswer(`${method} ${target} answers ${status}: ${text}: ${problem}`);
}

/** Sends a request as `fetch` does, and rejects with UndocumentedAnswer if the document does not have the answer. */
export async function fetchDocumented(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const response = await fetch(input, init);
  const { status, headers } = response;
  const text = await response.clone().text();
  const { pathname, search } = new URL(response.url);
  expectDocumented(init.method ?? 'GET', `${pathname}${search}`, { status, headers, text });
  return response;
}

function problemOf(
  method: string,
  target: string,
  { status, headers, text }: ReceivedAnswer,
): string | undefined {
  if (headers.get('cache-control') !== 'no-store') return 'it may be cached';
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (status >= 400 && !isFailure(status, body)) return 'it is not { status, error }';
  const [path] = target.split('?') as [string];
  const route = PATHS.find((each) => each.method === method && each.pattern.test(path));
  if (route === undefined) return undefined;
  const { responses } = DOCUMENT.paths[route.path]![method.toLowerCase()]!;
  const response = resolved(responses[OF_THE_SERVER.has(status) ? 'default' : status]);
  if (response === undefined) return 'the document has no such status';
  for (const [name, { required = false }] of Object.entries(response.headers ?? {}))
    if (required && !headers.has(name)) return `it has no ${name}`;
  const content = response.content?.['application/json'];
  if (content === undefined) return text === '' ? undefined : 'it has a body';
  if (headers.get('content-type') !== 'application/json') return 'it is not JSON';
  const validate = validatorOf(content.schema);
  return validate(body) ? undefined : ajv.errorsText(validate.errors);
}

function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema).replaceAll('"#/components', '"api#/components');
  const validate = validators.get(key) ?? ajv.compile(JSON.parse(key) as object);
  validators.set(key, validate);
  return validate;
}

/** Every error is `{ status, error }`, and nothing more. */
function isFailure(status: number, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const failure = body as Readonly<Record<string, unknown>>;
  return (
    Object.keys(failure).join(' ') === 'status error' &&
    failure['status'] === status &&
    typeof failure['error'] === 'string'
  );
}

function resolved(response: DocumentedResponse | undefined): DocumentedResponse | undefined {
  const { $ref } = response ?? {};
  return $ref === undefined
    ? response
    : DOCUMENT.components.responses[$ref.slice('#/components/responses/'.length)];
}
