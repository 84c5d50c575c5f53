// NominatedFields: the fields that `Connection` declares to belong to this hop (RFC 9110, section 7.6.1). They are removed,
// except those by which a sender could remove what the platform or the other side relies on.
import { foldedName, type FieldList } from '@svc/http1';

const NEVER_NOMINATED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'authorization',
  'cookie',
  'expect',
  'traceparent',
  'tracestate',
]);
const NEVER_NOMINATED_PREFIXES = ['x-forwarded-', 'x-svc-'];
/** Options that are no names of fields, and the usual values of `Connection`. */
const OPTIONS: ReadonlySet<string> = new Set(['', 'close', 'keep-alive']);

/** Returns the nominated names in lower case; undefined if there are none. */
export function nominatedFields(fields: FieldList): ReadonlySet<string> | undefined {
  let nominated: Set<string> | undefined;
  for (const value of fields.all('connection')) {
    const only = value.toLowerCase();
    if (OPTIONS.has(only)) continue;
    for (const option of only.split(',')) {
      const name = option.trim();
      if (OPTIONS.has(name) || NEVER_NOMINATED.has(name)) continue;
      if (NEVER_NOMINATED_PREFIXES.some((prefix) => foldedName(name).startsWith(prefix))) continue;
      nominated ??= new Set();
      nominated.add(name);
    }
  }
  return nominated;
}
