// ClaimPath: where in the claims of a token a value is: `realm_access.roles`. Only members that the token itself has are
// followed, never what JavaScript adds to an object.

export type ClaimPath = readonly string[];

const NAMES_MAX = 16;

/**
 * Parses names with `.` between them. A full stop that belongs to a name is written `\.`:
 * `https://svc\.example/roles`. Returns undefined for an empty name or more than 16 names.
 */
export function parseClaimPath(text: string): ClaimPath | undefined {
  const names = text.split(/(?<!\\)\./).map((name) => name.replaceAll(String.raw`\.`, '.'));
  return names.includes('') || names.length > NAMES_MAX ? undefined : names;
}

/** Returns the text that `parseClaimPath` parses to the path. */
export function claimPathText(path: ClaimPath): string {
  return path.map((name) => name.replaceAll('.', String.raw`\.`)).join('.');
}

/** Returns the value at the path; undefined if there is none. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: ClaimPath): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
