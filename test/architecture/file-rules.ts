// The rules for a file by itself: its length, its name, and how it assigns functions. The functions are pure.
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

/** A type before the equals sign, which a variable and a field of a class may have, ends in a bracket too. */
const FUNCTION_ASSIGNED =
  /(?<!: [^=\n]*)(?:[.\]]#?\w+|\]) (?:=|\?\?=|\|\|=)\s+(?:async )?(?:function\b|\w+ =>|\((?:[^()]|\([^()]*\))*\)(?:: [^=\n]+)? =>)/g;

/**
 * Lines that assign a function literal to a property: `exchange.onGone = () => …`. V8 takes such a function for a method and
 * allocates it with the objects that live long. There it keeps everything that it closes over until a full garbage
 * collection, which for a function of each request is the whole request. Assigning a variable avoids that.
 */
export function assignedFunctions(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(FUNCTION_ASSIGNED)].map(
      ({ index, 0: found }) => `${file}:${linesOf(text.slice(0, index)) + 1}: ${found.trim()}`,
    ),
  );
}
