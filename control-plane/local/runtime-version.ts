// RuntimeVersion: whether the installed version of svc runs what needs a version of it: the installed one has the same major version,
// and is not older. What follows a hyphen or a plus sign in a version is not compared.

/** `older`: a later version than the installed one is needed. `other`: the needed one has an earlier major version, or is no version. */
export type VersionProblem = 'older' | 'other';

const VERSION = /^\d{1,9}(\.\d{1,9}){0,2}(?=[-+]|$)/;

/** Returns why the installed version does not run what needs the other one; undefined if it does. */
export function versionProblem(installed: string, needed: string): VersionProblem | undefined {
  const [has, needs] = [numbersOf(installed), numbersOf(needed)];
  if (has === undefined || needs === undefined) return 'other';
  for (const [index, number] of needs.entries()) {
    const difference = (has[index] ?? 0) - number;
    if (difference < 0) return 'older';
    if (difference > 0) return index === 0 ? 'other' : undefined;
  }
  return undefined;
}

function numbersOf(version: string): readonly number[] | undefined {
  return VERSION.exec(version)?.[0].split('.').map(Number);
}
