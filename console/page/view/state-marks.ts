// StateMarks: which places of a state an event has changed, by their paths. Pure.
import type { StateChange } from '@svc/contract';

export type ChangeKind = 'added' | 'removed' | 'changed';

export function changeKind({ before, after }: StateChange): ChangeKind {
  if (before === null) return 'added';
  return after === null ? 'removed' : 'changed';
}

export interface StateMarks {
  /** What changed at this very place, or around it. */
  kindAt(path: string): ChangeKind | undefined;
  /** Something within this place changed: it is shown open. */
  isAround(path: string): boolean;
}

/** The path with which it begins at the state itself: '' for the whole of it. */
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

/** 'a.b[0].c' → '', 'a', 'a.b', 'a.b[0]' */
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
