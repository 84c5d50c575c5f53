// StateMarks: the parts of a state that an event has changed, by their paths. The functions are pure.
import type { StateChange } from '@svc/contract';

export type ChangeKind = 'added' | 'removed' | 'changed';

export function changeKind({ before, after }: StateChange): ChangeKind {
  if (before === null) return 'added';
  return after === null ? 'removed' : 'changed';
}

export interface StateMarks {
  /** Returns how the value at this path was changed; undefined if no change has exactly this path. */
  kindAt(path: string): ChangeKind | undefined;
  /** Returns whether a value within this path was changed, so that the node is expanded. */
  isAround(path: string): boolean;
}

/** Converts a change's path to a path within the state: '$.a.b' → 'a.b'; '$', the whole state → ''. */
export function pathOfChange(path: string): string {
  return path.replace(/^\$\.?/, '');
}

export function stateMarks(changes: readonly StateChange[]): StateMarks {
  const kinds = new Map<string, ChangeKind>();
  const around = new Set<string>();
  for (const change of changes) {
    const path = pathOfChange(change.path);
    kinds.set(path, changeKind(change));
    for (const outer of outerPaths(path)) around.add(outer);
  }
  return { kindAt: (path) => kinds.get(path), isAround: (path) => around.has(path) };
}

/** Returns the paths around a path: 'a.b[0].c' → '', 'a', 'a.b', 'a.b[0]'. */
export function outerPaths(path: string): string[] {
  const outer: string[] = path === '' ? [] : [''];
  let isQuoted = false;
  for (let at = 1; at < path.length; at++) {
    const sign = path[at]!;
    if (isQuoted) {
      if (sign === '\\') at++;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === '.' || sign === '[') outer.push(path.slice(0, at));
  }
  return outer;
}
