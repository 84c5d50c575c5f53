// Values of the fields that frame a message and say what becomes of its connection.

const LENGTH = /^(?:0|[1-9]\d{0,15})$/;
const CODING = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:[\t ]*;.*)?$/;

/** Returns the elements of a comma-separated list in lower case, without white space around them. */
export function listElements(value: string): string[] {
  return value.toLowerCase().split(',').map(trimmed);
}

/** Removes spaces and tabs. `trim` would also remove other bytes, and turn an unknown word into a known one. */
function trimmed(element: string): string {
  let from = 0;
  let to = element.length;
  while (from < to && isBlank(element[from]!)) from++;
  while (to > from && isBlank(element[to - 1]!)) to--;
  return element.slice(from, to);
}

function isBlank(character: string): boolean {
  return character === ' ' || character === '\t';
}

/**
 * Returns the number of bytes, or undefined for anything but decimal digits that make a safe integer. Zeros before the
 * number are refused: some recipients read it as octal.
 */
export function contentLength(value: string): number | undefined {
  const bytes = LENGTH.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Returns whether the transfer coding is chunked alone, another one, or malformed. */
export function transferCoding(value: string): 'chunked' | 'other' | 'malformed' {
  const codings = listElements(value);
  if (codings.length === 1 && codings[0] === 'chunked') return 'chunked';
  const isWellFormed = codings.every((coding, index) => {
    const name = CODING.exec(coding)?.[1];
    // Chunked has no parameters, and is the last coding.
    const isAllowed = name !== 'chunked' || (coding === name && index === codings.length - 1);
    return name !== undefined && isAllowed;
  });
  return isWellFormed ? 'other' : 'malformed';
}
