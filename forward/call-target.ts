// CallTarget: which service a process calls, by the first segment of the path at the calling address:
// `/<service>[.<project>]/<path>[?query]`. Names are compared raw: nothing is decoded.
import { serviceReferenceOf, type ServiceReference } from '@svc/client';

export type CallTarget =
  /** `path`: the rest of the path, with the query. */
  | { readonly kind: 'service'; readonly called: ServiceReference; readonly path: string }
  | { readonly kind: 'no-service' }
  | { readonly kind: 'not-a-service'; readonly segment: string };

/** `path`: in origin form, with its query, as it arrived; or `*`. */
export function callTarget(path: string): CallTarget {
  const end = path.slice(1).search(/[/?]/);
  const segment = end === -1 ? path.slice(1) : path.slice(1, end + 1);
  if (!path.startsWith('/') || segment === '') return { kind: 'no-service' };
  const called = serviceReferenceOf(segment);
  if (called === undefined) return { kind: 'not-a-service', segment };
  const rest = path.slice(segment.length + 1);
  return { kind: 'service', called, path: rest.startsWith('/') ? rest : `/${rest}` };
}
