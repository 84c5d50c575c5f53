// UnreadManifests: what a journal holds and no component of the module reads. A service does not start on
// such a journal: its entities would be lost from sight, or each of their calls would fail.
import type { ModuleDescriptor } from '@svc/contract';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { storedManifests, type StoredManifest } from '../storage/sqlite/journal-manifests.ts';

const NAMED_MAX = 10;

/** Of the message: whose components they are, and what to do. */
interface Words {
  readonly readers: string;
  readonly remedy: (components: readonly string[]) => string;
}

const OF_A_MODULE: Words = {
  readers: 'of this module',
  remedy: (components) =>
    `Run a module that reads them, or start with --allow-unread ${components.join(',')} when that is meant.`,
};

/**
 * `allowed`: components that were dropped on purpose. Throws SVC_MANIFEST_UNREADABLE, and what storedManifests
 * throws.
 */
export function checkManifests(
  dir: string,
  descriptor: ModuleDescriptor,
  allowed: readonly string[],
  { readers, remedy }: Words = OF_A_MODULE,
): void {
  const unread = unreadManifests(storedManifests(dir), descriptor).filter(
    ({ component }) => !allowed.includes(component),
  );
  if (unread.length === 0) return;
  const named = unread
    .slice(0, NAMED_MAX)
    .map(
      ({ component, manifest }) =>
        `'${printable(manifest)}' of component '${printable(component)}'`,
    );
  const more = unread.length > NAMED_MAX ? ` and ${unread.length - NAMED_MAX} more` : '';
  const components = [...new Set(unread.map(({ component }) => printable(component)))];
  throw new SvcError(
    'SVC_MANIFEST_UNREADABLE',
    `The journal in ${dir} holds events that no component ${readers} reads: ${named.join(', ')}${more}. ` +
      remedy(components),
  );
}

export function unreadManifests(
  stored: readonly StoredManifest[],
  { entities }: ModuleDescriptor,
): readonly StoredManifest[] {
  const read = new Map(entities.map(({ component, event }) => [component, event.manifest]));
  return stored.filter(({ component, manifest }) => read.get(component) !== manifest);
}
