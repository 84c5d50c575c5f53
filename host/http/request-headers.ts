// The headers of a request as a handler sees them, and as the server itself reads them.
import type { FieldList } from '@svc/http1';
import { connectionOptions, isForThisHop } from '@svc/kit/header-grammar';
import type { HeaderList } from '@svc/model/endpoint';

/**
 * Returns the headers with names in lower case, in the order of arrival, with repeats, without hop-by-hop and platform
 * headers.
 */
export function endpointHeaders(fields: FieldList): HeaderList {
  const { flat } = fields;
  const connection = headerValue(fields, 'connection');
  const nominated = connection === undefined ? undefined : connectionOptions(connection);
  const headers: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    if (isForThisHop(name) || nominated?.includes(name) === true) continue;
    headers.push([name, flat[at + 1]!]);
  }
  return headers;
}

/** Returns the value of a header, whose name is given in lower case. The values of a repeated one are joined by a comma. */
export function headerValue(fields: FieldList, lowerName: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < fields.count; index++)
    if (fields.isNamed(index, lowerName))
      value = value === undefined ? fields.value(index) : `${value}, ${fields.value(index)}`;
  return value;
}
