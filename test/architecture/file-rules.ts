// The rules for a file by itself: its length and its name. The functions are pure.
import { linesOf } from './source-tree.ts';

export const LINES_MAX = 400;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*(\.(config|test))?\.(ts|tsx|js|mjs)$/;
/** Words under which anything might be kept. */
const VAGUE = /(^|-)(utils?|common|helpers?|misc|manager|impl)(-|\.|$)/;

/** Paths with texts of more than LINES_MAX lines, with their count. */
export function tooLong(texts: ReadonlyMap<string, string>): string[] {
  return [...texts]
    .map(([file, text]) => ({ file, lines: linesOf(text) }))
    .filter(({ lines }) => lines > LINES_MAX)
    .map(({ file, lines }) => `${file} has ${lines} lines`);
}

/** Names of files that are not in kebab-case, or that say nothing. */
export function oddNames(names: readonly string[]): string[] {
  return names.filter((name) => !NAME.test(name) || VAGUE.test(name));
}
