// UnknownEventTypes finds the event types in a journal that no component of the code reads. A service does not
// start on such a journal, because calls of entities with such events could not be served; exceptions are `svc dev` and
// event types of ignored components.
import type { ModuleDescriptor } from '@svc/contract';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { locationName } from '../storage/journal-location.ts';
import type { JournalContents, StoredEventType } from '../storage/journal-contents.ts';

/** Maximum number of event types that the error message names. */
const NAMED_MAX = 10;

/** Parts of the error message that differ between services. */
export interface UnknownTypesWords {
  /** The end of the clause "no component …". */
  readonly readers: string;
  /** Returns the sentence that says what to do. */
  readonly remedy: (components: readonly string[]) => string;
}

const RUN_WORDS: UnknownTypesWords = {
  readers: 'of this service',
  remedy: (components) =>
    `Run code that reads them, or start with --ignore-components ${components.join(',')} when that is meant.`,
};

/**
 * Refuses a journal that holds event types unknown to the code. `ignored`: components that were dropped on purpose,
 * whose event types are not refused. Rejects with SVC_MANIFEST_UNREADABLE, SVC_JOURNAL_CORRUPT and SVC_JOURNAL_UNAVAILABLE.
 */
export async function checkEventTypes(
  journal: Pick<JournalContents, 'location' | 'eventTypes'>,
  descriptor: ModuleDescriptor,
  ignored: readonly string[],
  { readers, remedy }: UnknownTypesWords = RUN_WORDS,
): Promise<void> {
  const unknown = unknownEventTypes(await journal.eventTypes(), descriptor).filter(
    ({ component }) => !ignored.includes(component),
  );
  if (unknown.length === 0) return;
  const named = unknown
    .slice(0, NAMED_MAX)
    .map(
      ({ component, manifest }) =>
        `'${printable(manifest)}' of component '${printable(component)}'`,
    );
  const more = unknown.length > NAMED_MAX ? ` and ${unknown.length - NAMED_MAX} more` : '';
  const components = [...new Set(unknown.map(({ component }) => printable(component)))];
  throw new SvcError(
    'SVC_MANIFEST_UNREADABLE',
    `The journal in ${locationName(journal.location)} holds events that no component ${readers} reads: ${named.join(', ')}${more}. ` +
      remedy(components),
  );
}

/** Returns those of the stored event types that no component of the code reads. */
export function unknownEventTypes(
  stored: readonly StoredEventType[],
  { entities }: ModuleDescriptor,
): readonly StoredEventType[] {
  const read = new Map(entities.map(({ component, event }) => [component, event.manifest]));
  return stored.filter(({ component, manifest }) => read.get(component) !== manifest);
}
