// PromisePage: docs/reference/sandbox.md as its test and its generator read it. A sentence names what holds it by
// a footnote: `[^name]`; the footnote names the tests. The defaults and ranges of settings are generated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dottedName } from '../../kit/setting-name.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../host/service/section-settings.ts';

export const PROMISE_PAGE = 'docs/reference/sandbox.md';
const ROOT = join(import.meta.dirname, '..', '..');

export interface Footnote {
  readonly name: string;
  /** `FILE › NAME`, as it stands there. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

export function promisePage(): string {
  return readFileSync(join(ROOT, PROMISE_PAGE), 'utf8');
}

/** The page with the defaults and ranges of settings as they are now. */
export function generatedPromisePage(): string {
  return withSettings(promisePage());
}

/** The rows of settings with their defaults and ranges as they are now. */
function withSettings(text: string): string {
  const cells = new Map(
    Object.entries(SECTION_DEFAULTS).flatMap(([room, defaults]) =>
      Object.entries(defaults).flatMap(([key, value]) => {
        if (typeof value !== 'number') return [];
        const ranges: Readonly<Record<string, readonly [number, number]>> =
          SECTION_RANGES[room as keyof typeof SECTION_RANGES];
        const [min, max] = ranges[key]!;
        const range = `${shown(min)} to ${shown(max)}`;
        return [[dottedName(room, key), `${shown(value)} | ${range}`] as const];
      }),
    ),
  );
  return text.replaceAll(/^\| `(svc\.[a-z.-]+)` \| [^|]* \| [^|]* \|/gm, (row, name: string) =>
    cells.has(name) ? `| \`${name}\` | ${cells.get(name)} |` : row,
  );
}

function shown(value: number): string {
  return value === Number.MAX_SAFE_INTEGER ? '2⁵³' : value.toLocaleString('en-US');
}

/** The parts that promise something: bullets and rows of tables. */
export function promises(page: string): readonly string[] {
  const written = page.split('\n');
  const found: string[] = [];
  let previous = '';
  for (const line of written) {
    const isRow = line.startsWith('|') && previous.startsWith('|') && !/^\|[-|: ]+\|$/.test(line);
    if (line.startsWith('- ') || isRow) found.push(line);
    // A bullet goes on in the lines below it.
    else if (line.startsWith('  ') && found.length > 0) found[found.length - 1] += `\n${line}`;
    previous = line;
  }
  return found;
}

/** Names of the footnotes that a text refers to. */
export function footnotesIn(text: string): readonly string[] {
  return [...text.matchAll(/\[\^([^\]]+)\](?!:)/g)].map((match) => match[1]!);
}

export function footnotes(page: string): readonly Footnote[] {
  return [...page.matchAll(/^\[\^([^\]]+)\]: (.*(?:\n {2}.*)*)/gm)].map(([, name, text]) => ({
    name: name!,
    tests: text!
      .replaceAll(/\n\s*/g, ' ')
      .split(/; (?=`)/)
      .map((one) => {
        const [, file = '', test = ''] = /^`([^`]+)` › (.*?)\.?$/.exec(one) ?? [];
        return [file, test] as const;
      }),
  }));
}
