// Mounts: which requests go to a mounted service instead of the process. A path is compared raw and in whole segments, and
// the longest mount wins. Servers read paths in different ways: they decode percent-encodings, merge slashes or resolve dot
// segments. A path that any of these readings leads to another destination is ambiguous, and refused.
import type { Mount } from '@svc/client';

export type Routed =
  | { readonly kind: 'process' }
  /** `path`: the path without the mount's, with the query. */
  | { readonly kind: 'mount'; readonly service: string; readonly path: string }
  | { readonly kind: 'ambiguous' };

const PROCESS: Routed = { kind: 'process' };
const AMBIGUOUS: Routed = { kind: 'ambiguous' };

/** Only a path with one of these has several readings. */
const SEVERAL_READINGS = /%|\\|;|\/\/|\/\.|\/$/;
/** Longest path whose readings are compared, in characters; a longer one with several readings is ambiguous. */
const COMPARED_LENGTH_MAX = 2048;

interface MountedAt extends Mount {
  readonly segments: readonly string[];
}

export class MountTable {
  /** The longest first, so that the first match is the longest. */
  readonly #mounts: readonly MountedAt[];

  /** `mounts`: valid ones, as `descriptorProblems` checks them. */
  constructor(mounts: readonly Mount[]) {
    this.#mounts = mounts
      .map((mount) => ({ ...mount, segments: segmentsOf(mount.path) }))
      .toSorted((a, b) => b.segments.length - a.segments.length);
  }

  /** `path`: in origin form, with its query, as it arrived; or `*`. */
  route(path: string): Routed {
    if (this.#mounts.length === 0) return PROCESS;
    const query = path.indexOf('?');
    const raw = query === -1 ? path : path.slice(0, query);
    const mount = this.#mountOf(segmentsOf(raw));
    if (SEVERAL_READINGS.test(raw) && this.#isAmbiguous(raw, mount)) return AMBIGUOUS;
    if (mount === undefined) return PROCESS;
    const rest = path.slice(mount.path.length);
    return {
      kind: 'mount',
      service: mount.service,
      path: rest.startsWith('/') ? rest : `/${rest}`,
    };
  }

  #mountOf(segments: readonly string[]): MountedAt | undefined {
    return this.#mounts.find((mount) =>
      mount.segments.every((segment, index) => segment === segments[index]),
    );
  }

  #isAmbiguous(raw: string, mount: MountedAt | undefined): boolean {
    if (raw.length > COMPARED_LENGTH_MAX) return true;
    for (const segments of readingsOf(raw)) if (this.#mountOf(segments) !== mount) return true;
    return false;
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split('/');
}

/** How readers change the text of a path, in their order. */
const TEXT_CHANGES = [
  decodedButSeparators,
  decodedOnce,
  decodedRepeatedly,
  withSlashes,
  endedEarly,
  withoutParameters,
];

/**
 * Yields the readings of a path that servers are known to have, as segments: every combination of decoding, of separators,
 * of parameters, of what ends a path, and of what becomes of empty and dot segments.
 */
function* readingsOf(raw: string): Generator<readonly string[]> {
  for (const text of variants([raw], TEXT_CHANGES))
    for (const segments of pathReadings(segmentsOf(text))) {
      yield segments;
      // A reference that begins with two slashes has a host before its path.
      if (segments[0] === '' && segments.length > 2) yield* pathReadings(segments.slice(2));
    }
}

/** Returns the segments with and without the empty ones, and with and without dot segments, each list once. */
function pathReadings(segments: readonly string[]): readonly (readonly string[])[] {
  const lists = segments.includes('')
    ? [segments, segments.filter((segment) => segment !== '')]
    : [segments];
  const hasDots = segments.includes('..') || segments.includes('.');
  return hasDots ? [...lists, ...lists.map(resolved)] : lists;
}

/** Returns the texts that come of applying any selection of the changes, in their order. */
function variants(
  texts: readonly string[],
  changes: readonly ((text: string) => string)[],
): readonly string[] {
  let found = texts;
  for (const change of changes) found = [...new Set([...found, ...found.map(change)])];
  return found;
}

const DECODINGS_MAX = 4;
const ENCODED = /%([0-9a-fA-F]{2})/g;

function decodedOnce(text: string): string {
  return text.replaceAll(ENCODED, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Decodes all but `/` and `\`, so that encoded separators stay inside their segments. */
function decodedButSeparators(text: string): string {
  return text.replaceAll(ENCODED, (encoded, digits: string) =>
    /2f|5c/i.test(digits) ? encoded : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Decodes what was encoded several times. */
function decodedRepeatedly(text: string): string {
  let decoded = text;
  for (let pass = 0; pass < DECODINGS_MAX; pass++) decoded = decodedOnce(decoded);
  return decoded;
}

function withSlashes(text: string): string {
  return text.replaceAll('\\', '/');
}

/** Ends the path where a reader that has decoded it may see its end. */
function endedEarly(text: string): string {
  return text.replace(/[?#\0].*$/s, '');
}

/** Removes the parameters of each segment (RFC 3986, section 3.3). */
function withoutParameters(text: string): string {
  return text.replaceAll(/;[^/]*/g, '');
}

function resolved(segments: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (const segment of segments)
    if (segment === '..') path.pop();
    else if (segment !== '.') path.push(segment);
  return path;
}
