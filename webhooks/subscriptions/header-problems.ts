// HeaderProblems: the rules of the headers that a subscription adds to its deliveries.
import { type Problems, isRecord, quoted } from '@svc/client';
import { isFieldName } from '@svc/kit/header-grammar';
import { isReservedHeader } from '../sending/signed-headers.ts';
import {
  HEADERS_MAX,
  HEADER_NAME_LENGTH_MAX,
  HEADER_VALUE_LENGTH_MAX,
} from './subscription-limits.ts';

const VISIBLE_OR_SPACE = /^[\x20-\x7e]*$/;

/** Reports what is wrong with headers, as seen from them. More than the maximum of them are not looked at. */
export function checkHeaders(value: unknown, problems: Problems): void {
  if (!isRecord(value)) {
    problems.add('is not an object of texts');
    return;
  }
  const headers = Object.entries(value);
  if (headers.length > HEADERS_MAX) {
    problems.add(`has ${headers.length} headers, and may have ${HEADERS_MAX}`);
    return;
  }
  const firstByName = new Map<string, string>();
  for (const [name, content] of headers) {
    const at = problems.at(name.slice(0, HEADER_NAME_LENGTH_MAX));
    checkName(name, at);
    const folded = name.toLowerCase();
    const first = firstByName.get(folded);
    if (first === undefined) firstByName.set(folded, name);
    else at.add(`is the header ${quoted(first)} once more, since case makes no difference`);
    checkValue(content, at);
  }
}

function checkName(name: string, problems: Problems): void {
  if (name.length > HEADER_NAME_LENGTH_MAX)
    problems.add(`has a name of more than ${HEADER_NAME_LENGTH_MAX} characters`);
  else if (!isFieldName(name)) problems.add('is no name of a header');
  else if (isReservedHeader(name))
    problems.add('is a header that the service sets itself, or one of the connection');
}

function checkValue(value: unknown, problems: Problems): void {
  if (typeof value !== 'string') problems.add('is not a text');
  else if (value.length > HEADER_VALUE_LENGTH_MAX)
    problems.add(`has a value of more than ${HEADER_VALUE_LENGTH_MAX} characters`);
  else if (!VISIBLE_OR_SPACE.test(value))
    problems.add('has a value with something else than visible characters of ASCII and spaces');
}
