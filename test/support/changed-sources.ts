// A fixture's sources with some of their text replaced.
import type { Sources } from './compile-fixture.ts';

/** What stands in the place of each text, in whichever files it is; it has to be in one. */
export function changedSources(
  sources: Sources,
  edits: readonly (readonly [find: string, replace: string])[],
): Sources {
  const files = new Map(sources);
  for (const [find, replace] of edits) {
    const found = [...files].filter(([, text]) => text.includes(find));
    if (found.length === 0) throw new Error(`no file has this text any more: ${find}`);
    for (const [file, text] of found)
      files.set(
        file,
        text.replaceAll(find, () => replace),
      );
  }
  return files;
}
