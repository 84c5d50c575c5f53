// ResponseForm: the form that a program gives to all responses of its service, also to those of the runtime: headers that each
// of them has, and how much the body of an error says.
import { isCorsField, isFieldName, isFieldValue, isForThisHop } from '@svc/kit/header-grammar';
import type { HeaderList } from '@svc/model/endpoint';
import type { Answer, ErrorForm } from './answers.ts';
import { POSITION_FIELD } from './position-token.ts';

export interface ResponseForm {
  /** Headers of each response that has none of the same name. The names are in lower case. */
  readonly headers: HeaderList;
  /** With `plain`, details of refusals are left out, and the id of a failure stands at the end of `error`. */
  readonly errors: ErrorForm;
  /** Whether the answers of a service with views have the header Svc-Position. */
  readonly hasPosition: boolean;
}

export const RESPONSE_FORM_DEFAULT: ResponseForm = {
  headers: [],
  errors: 'full',
  hasPosition: true,
};

/** Headers that describe one response: its body, its time, its position in the journal. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'date',
  POSITION_FIELD,
]);

/** Returns a reason why a header cannot be one of all responses; undefined if it can. */
export function headerProblem(name: string, value: string): string | undefined {
  const lowerName = name.toLowerCase();
  if (!isFieldName(name)) return 'is no name of a header';
  if (!isFieldValue(value)) return 'has a value that HTTP cannot carry';
  if (isCorsField(lowerName)) return 'is set by the settings of svc.http.cors';
  if (isForThisHop(lowerName) || OWN_FIELDS.has(lowerName)) return 'is set by the runtime';
  return undefined;
}

/**
 * Adds the headers of the form to an answer, and the challenge to a 401. `challenge`: value of `www-authenticate`; undefined: it
 * is not added. A header that the answer has already is not added.
 */
export function formedAnswer(
  answer: Answer,
  { headers }: ResponseForm,
  challenge: string | undefined,
): Answer {
  const isChallenged = challenge !== undefined && answer.status === 401;
  if (headers.length === 0 && !isChallenged) return answer;
  const given = new Set(answer.headers.map(([name]) => name));
  const more = headers.filter(([name]) => !given.has(name));
  if (isChallenged && !given.has('www-authenticate')) more.push(['www-authenticate', challenge]);
  return { ...answer, headers: [...answer.headers, ...more] };
}
