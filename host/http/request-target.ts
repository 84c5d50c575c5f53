// RequestTarget: the path of a request as decoded segments, and its query string as it arrived.
//
// - The path is split at `/` first and each segment is percent-decoded afterwards, so `%2F` is a character of its
//   segment. A segment that does not decode to UTF-8 makes the target malformed.
// - The path is not normalised: `//` has an empty segment, `.` and `..` stay as they are.
import { SEGMENTS_MAX } from '@svc/contract';

export type RequestTarget =
  | {
      readonly kind: 'path';
      /** Segments: `/carts/7` is `['carts', '7']`, `/` is `['']`. At most SEGMENTS_MAX + 1 are kept. */
      readonly segments: readonly string[];
      /** Query string without the question mark; empty if there is none. */
      readonly query: string;
    }
  /** `OPTIONS *`: the server as a whole. */
  | { readonly kind: 'server' }
  | { readonly kind: 'malformed'; readonly reason: string };

/** `target`: of a request that was read, in origin form; `*` only for `OPTIONS`. */
export function parseRequestTarget(target: string): RequestTarget {
  if (target === '*') return { kind: 'server' };
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const segments = segmentsOf(path);
  if (path.includes('%'))
    for (let at = 0; at < segments.length; at++) {
      const decoded = decodeSegment(segments[at]!);
      if (decoded === undefined)
        return {
          kind: 'malformed',
          reason: 'The path has a percent-encoding that is not UTF-8.',
        };
      segments[at] = decoded;
    }
  return { kind: 'path', segments, query };
}

/** Equals `split` with a limit, at half the cost. */
function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  let start = 1;
  for (;;) {
    const end = path.indexOf('/', start);
    segments.push(end === -1 ? path.slice(start) : path.slice(start, end));
    if (end === -1 || segments.length > SEGMENTS_MAX) return segments;
    start = end + 1;
  }
}

/** Decodes a segment. Returns undefined if the percent-encoding is malformed or not UTF-8. */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
