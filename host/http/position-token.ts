// PositionToken is a position of the journal as callers get it in the header Svc-Position, and give it back in Svc-After. It is
// opaque to them. A token carries no signature, because a forged one gives nothing away: it only lets the queries of its own
// request wait.
import type { Position, Positions } from '../engine/needs/feed.ts';
import type { EndpointResponse, HeaderList } from '@svc/model/endpoint';

/**
 * Header of a response: everything that its handler's calls of entities have stored or answered is before this position, and so is
 * what its request named, unless every query finds that without a position.
 */
export const POSITION_FIELD = 'svc-position';
/** Header of a request: the queries of its handler have to see everything before this position. */
export const AFTER_FIELD = 'svc-after';
/** First characters of a token. Another form of positions gets other ones. */
const PREFIX = 'p1-';

/** Returns the token of a position. */
export function tokenOf(position: Position): string {
  return PREFIX + position;
}

/** Returns the response with a position instead of one that the module has given it. */
export function atPosition(response: EndpointResponse, position: Position): EndpointResponse {
  const headers = response.headers.filter(([name]) => name.toLowerCase() !== POSITION_FIELD);
  return { ...response, headers: [...headers, [POSITION_FIELD, tokenOf(position)]] };
}

/**
 * Returns the position that the header Svc-After names; undefined if there is no such header, and false if its value is no
 * token of this journal.
 */
export function positionAfter(
  headers: HeaderList,
  positions: Positions,
): Position | false | undefined {
  const token = tokenIn(headers);
  return token === undefined ? undefined : (positionOf(token, positions) ?? false);
}

/**
 * Lets the end of the journal catch up if the header Svc-After names a position after it, which another node may have reached.
 * Returns undefined if nothing has to be waited for.
 */
export function caughtUp(headers: HeaderList, positions: Positions): Promise<void> | undefined {
  const token = positions.catchUp === undefined ? undefined : tokenIn(headers);
  const position = token === undefined ? undefined : parsed(token, positions);
  if (position === undefined || positions.hasReached(positions.end(), position)) return undefined;
  return positions.catchUp?.();
}

/** Returns the position of a token; undefined if it is no token of this journal. The text may come from anybody. */
export function positionOf(token: string, positions: Positions): Position | undefined {
  const position = parsed(token, positions);
  // A token from this journal is never ahead of its end, once that has caught up.
  return position !== undefined && positions.hasReached(positions.end(), position)
    ? position
    : undefined;
}

function tokenIn(headers: HeaderList): string | undefined {
  return headers.find(([name]) => name === AFTER_FIELD)?.[1];
}

function parsed(token: string, positions: Positions): Position | undefined {
  return token.startsWith(PREFIX) ? positions.parse(token.slice(PREFIX.length)) : undefined;
}
