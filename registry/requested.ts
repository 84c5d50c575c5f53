// Requested: the parts of a request's path, checked. Names become paths of files, so only those of the grammars pass.
import { isServiceName, PROJECT_ID_LENGTH_MAX } from '@svc/client';
import { type Digest, isDigest } from '@svc/oci/digest';
import { unknownName } from './caller.ts';
import { RegistryError } from './registry-error.ts';

/** Parameters of the routes; each route has some of them. */
export interface RouteParameters {
  readonly project: string;
  readonly service: string;
  readonly reference: string;
  readonly digest: string;
  readonly upload: string;
}

const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const CONTENT_RANGE = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/\S*)?$/;
const LIST_LENGTH_MAX = 1000;

/** Throws NAME_UNKNOWN. */
export function checkNames({
  project,
  service,
}: Pick<RouteParameters, 'project' | 'service'>): void {
  // The id of a project has the grammar of a service's name, and is shorter.
  const isProject = isServiceName(project) && project.length <= PROJECT_ID_LENGTH_MAX;
  if (!isProject || !isServiceName(service)) throw unknownName();
}

/** Throws DIGEST_INVALID. */
export function digestIn(text: string | undefined): Digest {
  if (isDigest(text)) return text;
  throw new RegistryError(
    400,
    'DIGEST_INVALID',
    'a digest is sha256: or sha512: with its hexadecimal digits',
  );
}

/** Returns a digest or a tag. Throws TAG_INVALID. */
export function referenceIn(text: string): { readonly digest?: Digest; readonly tag?: string } {
  if (isDigest(text)) return { digest: text };
  if (TAG.test(text)) return { tag: text };
  throw new RegistryError(
    400,
    'TAG_INVALID',
    'this is neither a tag nor a digest of SHA-256 or SHA-512',
  );
}

/** Returns the offset of the first byte in Content-Range; undefined if there is none. Throws BLOB_UPLOAD_INVALID. */
export function offsetIn(
  contentRange: string | undefined,
  contentLength: string | undefined,
): number | undefined {
  if (contentRange === undefined) return undefined;
  const [, first, last] = CONTENT_RANGE.exec(contentRange) ?? [];
  const length = Number(last) - Number(first) + 1;
  if (
    first === undefined ||
    length < 1 ||
    (contentLength !== undefined && Number(contentLength) !== length)
  )
    throw new RegistryError(
      416,
      'BLOB_UPLOAD_INVALID',
      'Content-Range is FIRST-LAST, and has as many bytes as Content-Length',
    );
  return Number(first);
}

/** Reads `n` and `last` of a list. Throws UNSUPPORTED. */
export function pageIn({ n, last }: { readonly n?: string; readonly last?: string }): {
  readonly countMax: number;
  readonly after: string | undefined;
} {
  if (n !== undefined && !/^\d{1,9}$/.test(n))
    throw new RegistryError(400, 'UNSUPPORTED', 'n is a number');
  return { countMax: Math.min(Number(n ?? LIST_LENGTH_MAX), LIST_LENGTH_MAX), after: last };
}
