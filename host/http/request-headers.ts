// The headers of a request as a handler sees them, and checks of the headers that determine how the request
// itself is read.
import type { HeaderList } from '../model/endpoint.ts';
import type { IncomingMessage } from 'node:http';
import { type Answer, errorAnswer } from './answers.ts';
import { connectionOptions, isForThisHop } from '@svc/kit/header-grammar';

/**
 * Returns the headers with names in lower case, in the order of arrival, with repeats, without hop-by-hop and platform
 * headers.
 */
export function endpointHeaders(request: IncomingMessage): HeaderList {
  const raw = request.rawHeaders;
  const connection = request.headers.connection;
  const nominated = connection === undefined ? undefined : connectionOptions(connection);
  const headers: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (isForThisHop(name) || nominated?.includes(name) === true) continue;
    headers.push([name, raw[at + 1]!]);
  }
  return headers;
}

/** Returns the answer to a request whose headers are too many, invalid or not supported; undefined if they are fine. */
export function headerProblem(request: IncomingMessage, headersMax: number): Answer | undefined {
  const raw = request.rawHeaders;
  if (raw.length > headersMax * 2)
    return errorAnswer(431, `The request has more than ${headersMax} headers.`);
  let hosts = 0;
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === 'host') hosts += 1;
  const isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
  if (hosts > 1 || (hosts === 0 && !isOld))
    return errorAnswer(400, 'The request must have exactly one Host header.');
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return errorAnswer(501, 'The transfer coding of the request is not supported: use chunked.');
  return undefined;
}
