// NotInSource is the error for a component or a command that a source of guests does not have.
import type { ModuleDescriptor } from '@svc/contract';
import { didYouMean } from '@svc/contract/suggestion';
import { SvcError } from '@svc/kit/svc-error';
import { type SourceKind, sourceWord } from '../hosting/guest-source.ts';

const NAMES_LISTED_MAX = 10;

/** Makes the error. `what`: the component or command with its name. `known`: the names that the source has. */
export function notInSource(
  kind: SourceKind,
  what: string,
  name: string,
  known: readonly string[],
): SvcError {
  const listed = known.slice(0, NAMES_LISTED_MAX).join(', ');
  const more = known.length > NAMES_LISTED_MAX ? ', …' : '';
  const remedy =
    kind === 'wasm'
      ? 'svc inspect MODULE.wasm lists what it has.'
      : `It has ${listed === '' ? 'none' : listed}${more}.`;
  return new SvcError(
    'SVC_NOT_IN_MODULE',
    `The ${sourceWord(kind)} has no ${what}.${didYouMean(name, known)} ${remedy}`,
  );
}

/** Returns the ids of the components that the descriptor declares. */
export function componentIds({ entities }: ModuleDescriptor): readonly string[] {
  return entities.map(({ component }) => component);
}
