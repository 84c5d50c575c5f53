// SubjectAltNames: the names of a certificate, read from the text that Node makes of them. The text is a list with `, `
// between its entries, and an entry is `LABEL:value`. A value that could be read in two ways is a JSON string instead
// (`URI:"spiffe://a\u002c URI:spiffe://b"`), so a comma inside of a name never begins an entry.

export interface SubjectAltName {
  /** `URI`, `DNS`, `IP Address`, `email`, `DirName`, `othername`, `Registered ID`. */
  readonly label: string;
  readonly value: string;
}

const SEPARATOR = ', ';
const LABEL = /^[A-Za-z]+( [A-Za-z]+)?$/;
/** A JSON string at the position of the search. */
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
/** A value that Node writes without quotes. */
const PLAIN = /[^",\\]*/y;

/** Returns the names; undefined if the text has another form than Node's. An absent text has no names. */
export function parseSubjectAltNames(text = ''): readonly SubjectAltName[] | undefined {
  const names: SubjectAltName[] = [];
  if (text === '') return names;
  for (let start = 0; ;) {
    const colon = text.indexOf(':', start);
    const label = text.slice(start, Math.max(colon, start));
    const shown = matchAt(QUOTED, text, colon + 1) ?? matchAt(PLAIN, text, colon + 1)!;
    const value = shown.startsWith('"') ? unquoted(shown) : shown;
    if (!LABEL.test(label) || value === undefined) return undefined;
    names.push({ label, value });
    const end = colon + 1 + shown.length;
    if (end === text.length) return names;
    if (!text.startsWith(SEPARATOR, end)) return undefined;
    start = end + SEPARATOR.length;
  }
}

function matchAt(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0];
}

function unquoted(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}
