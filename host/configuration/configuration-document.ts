// ConfigurationDocument: the values of a configuration file, in YAML or JSON. A document is read as a whole or not at all. Its
// problems name lines and columns, and quote nothing of the file, which may have secrets.
import { LineCounter, parseDocument } from 'yaml';

export type DocumentValues =
  | { readonly values: ReadonlyMap<string, unknown> }
  | { readonly problems: readonly string[] };

const PROBLEMS_MAX = 20;

/** The library's codes, in words. */
const WORDS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'a name is given twice',
  TAB_AS_INDENT: 'a tab indents the line; use spaces',
  MULTIPLE_DOCS: 'a second document begins',
  BAD_ALIAS: 'an alias names nothing',
  MULTILINE_IMPLICIT_KEY: 'a name goes over several lines',
  MISSING_CHAR: 'a character is missing, such as a quote or a bracket',
  NON_STRING_KEY: 'a name is no text, as in a template that was not filled in',
  BAD_INDENT: 'the line is indented too little or too much',
};

/** Reads the values by their names. A number that a double cannot hold becomes a text of its digits. */
export function readDocument(text: string): DocumentValues {
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, {
      intAsBigInt: true,
      prettyErrors: false,
      lineCounter,
      // The library prints a key that is a collection, and a template that was not filled in is one: `fee: {{ fee }}`.
      stringKeys: true,
      // A document cannot choose YAML 1.1, its merges, or its tags.
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
    });
    const failures = [...document.errors, ...document.warnings];
    if (failures.length > 0)
      return {
        problems: failures.slice(0, PROBLEMS_MAX).map(({ code, pos: [at] }) => {
          const { line, col } = lineCounter.linePos(at);
          return `line ${line}, column ${col}: ${WORDS[code] ?? `it is no YAML (${code})`}`;
        }),
      };
    // A few lines of aliases can make a value of any size.
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null || value === undefined) return { values: new Map() };
    if (typeof value !== 'object' || Array.isArray(value))
      return { problems: ['it has to be a map of names and values'] };
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    return { values: new Map(entries.map(([name, one]) => [name, withoutBigInts(one)])) };
  } catch (error) {
    if (error instanceof ReferenceError) return { problems: ['it has aliases'] };
    if (error instanceof RangeError) return { problems: ['it nests too deep'] };
    throw error;
  }
}

function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map(withoutBigInts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withoutBigInts(one)]),
  );
}
