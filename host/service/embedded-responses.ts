// EmbeddedResponses: the option of createService that gives one form to all responses. The option is public.
import { headerProblem, type ResponseForm } from '../http/response-form.ts';

/** The form of all responses of a service, also of those that the runtime gives without a handler. */
export interface ResponsesOptions {
  /**
   * Headers of every response that has none of the same name: `{ 'cache-control': 'no-store' }`. Those of the connection, of
   * CORS, and of one body (`content-type`) are refused.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of an error. `full`, the default: `{ status, error }`, with `details` or `errorId` if there are any. `plain`:
   * `{ status, error }` and nothing else. Details are left out, and an error id stands at the end of `error`.
   */
  readonly errors?: 'full' | 'plain';
  /**
   * False: a service with views answers without the header Svc-Position, which shows every caller how much is stored. Default:
   * true.
   */
  readonly position?: boolean;
}

/** Returns the first problem of the option, to follow 'The option '; undefined if there is none. */
export function responsesProblem({
  headers = {},
  errors = 'full',
}: ResponsesOptions): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) return `responses.headers has '${name}', which ${problem}`;
  }
  if (errors === 'full' || errors === 'plain') return undefined;
  return `responses.errors takes 'full' or 'plain', and found '${String(errors)}'`;
}

/** Returns the form that the option gives to the responses. */
export function responseForm({
  headers = {},
  errors = 'full',
  position: hasPosition = true,
}: ResponsesOptions = {}): ResponseForm {
  return {
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    errors,
    hasPosition,
  };
}
