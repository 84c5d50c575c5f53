// MountPath: the grammar of a mount's path. A path is made of whole segments that every server reads alike, so that
// no two readings of a request's path disagree about whether it is under the mount.

/** Protocol (ALPN) of connections that carry requests under a mount. */
export const MOUNT_PROTOCOL = 'svc-mount/1';
/** Maximum length of a mount's path. */
export const MOUNT_PATH_LENGTH_MAX = 200;

/** A segment: unreserved characters of RFC 3986, and those that it allows in a path without encoding, but `;`. */
const SEGMENT_TEXT = "[A-Za-z0-9._~!$&'()*+,=:@-]+";
const SEGMENT = new RegExp(`^${SEGMENT_TEXT}$`);
/** Grammar of a mount's path, as a JSON Schema writes it, but for segments that clients resolve. */
export const MOUNT_PATH_PATTERN = `^(/${SEGMENT_TEXT})+$`;
/** A segment that clients resolve before they send a path. */
export const DOT_SEGMENT_PATTERN = '/\\.\\.?(/|$)';

/** Returns why the text is no path of a mount, with what to write instead; undefined for a valid path. */
export function mountPathProblem(path: string): string | undefined {
  if (path === '') return 'is empty: write a path such as /cart';
  if (path.length > MOUNT_PATH_LENGTH_MAX)
    return `is longer than ${MOUNT_PATH_LENGTH_MAX} characters`;
  if (!path.startsWith('/')) return 'does not begin with a slash: write a path such as /cart';
  if (path === '/') return 'is the whole service: name a path below it, such as /cart';
  const segments = path.slice(1).split('/');
  if (segments.at(-1) === '') return 'ends with a slash: write the path without it';
  if (segments.includes('')) return 'has an empty segment: write one slash between two segments';
  if (segments.some((segment) => segment === '.' || segment === '..'))
    return 'has the segment . or .., which clients resolve before they send a path';
  if (path.includes('%')) return 'has a percent-encoding: write characters that need none';
  if (!segments.every((segment) => SEGMENT.test(segment)))
    return "has a character that is not allowed: use letters, digits and . _ ~ ! $ & ' ( ) * + , = : @ -";
  return undefined;
}
