// StateChanges finds the differences between two states, each with its JSON path: `items[0].quantity`, or
// `readers["a b"]` for a key that is not an identifier.

export interface StateChange {
  /** JSON path; empty for the whole state. */
  readonly path: string;
  /** JSON text; undefined if the value was added. */
  readonly before: string | undefined;
  /** JSON text; undefined if the value was removed. */
  readonly after: string | undefined;
}

export interface StateChanges {
  readonly changes: readonly StateChange[];
  /** Number of changes that are not listed. */
  readonly moreCount: number;
}

/** Maximum number of listed changes. */
const CHANGES_MAX = 100;
/** Deeper values are compared as JSON text, because recursion into a deeply nested state could exhaust the stack. */
const DEPTH_MAX = 200;

/** Compares two JSON texts. Texts that differ only in the order of keys are one change of the whole state. */
export function stateChanges(before: string, after: string): StateChanges {
  if (before === after) return { changes: [], moreCount: 0 };
  const found = new FoundChanges();
  try {
    collect(JSON.parse(before), JSON.parse(after), '', 0, found);
  } catch (error) {
    // A text is not JSON, or is nested too deeply for JSON.stringify.
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
    return { changes: [{ path: '', before, after }], moreCount: 0 };
  }
  if (found.changes.length === 0) return { changes: [{ path: '', before, after }], moreCount: 0 };
  return found;
}

class FoundChanges implements StateChanges {
  readonly changes: StateChange[] = [];
  moreCount = 0;

  add(path: string, before: unknown, after: unknown): void {
    if (this.changes.length < CHANGES_MAX)
      this.changes.push({ path, before: JSON.stringify(before), after: JSON.stringify(after) });
    else this.moreCount++;
  }
}

function collect(a: unknown, b: unknown, path: string, depth: number, found: FoundChanges): void {
  if (a === b) return;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.add(path, a, b);
    return;
  }
  if (depth === DEPTH_MAX) {
    if (JSON.stringify(a) !== JSON.stringify(b)) found.add(path, a, b);
    return;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const inner = Array.isArray(b) ? `${path}[${key}]` : path + step(key, path === '');
    if (!Object.hasOwn(a, key)) found.add(inner, undefined, b[key]);
    else if (!Object.hasOwn(b, key)) found.add(inner, a[key], undefined);
    else collect(a[key], b[key], inner, depth + 1, found);
  }
}

function step(key: string, isFirst: boolean): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return `[${JSON.stringify(key)}]`;
  return isFirst ? key : `.${key}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
