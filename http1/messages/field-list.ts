// Fields of a head or of trailers, as they were on the wire: order, case and repetition are kept, and bytes are text in
// latin1. A list never changes.

export class FieldList {
  /** Name, value, name, value and so on. White space around values has been removed. */
  readonly flat: readonly string[];

  constructor(flat: readonly string[]) {
    this.flat = flat;
  }

  get count(): number {
    return this.flat.length / 2;
  }

  /** Returns the name as it was written. */
  name(index: number): string {
    return this.flat[2 * index]!;
  }

  value(index: number): string {
    return this.flat[2 * index + 1]!;
  }

  /** Returns whether the name of a field equals `lowerName`, which is in lower case. */
  isNamed(index: number, lowerName: string): boolean {
    return isSameName(this.flat[2 * index]!, lowerName);
  }

  /** Returns the value of the first field of this name, which is given in lower case. */
  first(lowerName: string): string | undefined {
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2)
      if (isSameName(flat[at]!, lowerName)) return flat[at + 1];
    return undefined;
  }

  /** Returns the values of all fields of this name, which is given in lower case. */
  all(lowerName: string): string[] {
    const { flat } = this;
    const values: string[] = [];
    for (let at = 0; at < flat.length; at += 2)
      if (isSameName(flat[at]!, lowerName)) values.push(flat[at + 1]!);
    return values;
  }

  has(lowerName: string): boolean {
    return this.first(lowerName) !== undefined;
  }
}

export const NO_FIELDS = new FieldList([]);

const CASE_BIT = 0x20;
const LOWER_A = 0x61;
const LOWER_Z = 0x7a;

/** Returns whether the name equals `lowerName`, which is in lower case, but for the case of ASCII letters. */
export function isSameName(name: string, lowerName: string): boolean {
  if (name.length !== lowerName.length) return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const wanted = lowerName.charCodeAt(at);
    const isLetter = wanted >= LOWER_A && wanted <= LOWER_Z;
    if (code !== wanted && !(isLetter && (code | CASE_BIT) === wanted)) return false;
  }
  return true;
}
