// LocalProblems: what this machine cannot run of a service, as far as its descriptor and the label of its image show it. It is asked
// when a descriptor is applied, and before anything is started: another version of svc may be installed by then.
import {
  hostingKind,
  PLATFORM_AUTH,
  type Problem,
  type ServiceDescriptor,
  type ServiceKey,
} from '@svc/client';
import { PROTOCOL_VERSIONS } from '@svc/contract';
import { leftJournal } from '../orchestration/left-journal.ts';
import { versionProblem } from './runtime-version.ts';
import type { Journals } from './service-databases.ts';
import { takesTokens } from '../orchestration/service-tokens.ts';

/** Protocols of processes with components that the runtime speaks. */
export const PROCESS_PROTOCOLS: readonly string[] = ['svc/1'];

const MODULES_ALONE = 'this installation keeps only journals of modules there';

export interface Runnable {
  /** Version of the runtime of this machine, such as `1.4.0`. */
  readonly version: string;
  /** Why it runs no programs of images, worded to follow a colon; undefined if it does. */
  readonly noPrograms: string | undefined;
  /** Whether the operator has named an audience of the access tokens of services. */
  readonly hasServiceAudience: boolean;
}

/** `imageRuntime`: the version of svc in the label of the image, as far as it is known. */
export function problemsHere(
  descriptor: ServiceDescriptor,
  { version: installed, noPrograms, hasServiceAudience }: Runnable,
  imageRuntime?: string,
): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, reason: string) => problems.push({ path, reason });
  const kind = hostingKind({ ...descriptor });
  if (
    descriptor.hosting === 'process' &&
    kind === 'process' &&
    !PROCESS_PROTOCOLS.includes(descriptor.protocol)
  )
    add(
      '/protocol',
      `is ${descriptor.protocol}: this installation runs ${PROCESS_PROTOCOLS.join(' and ')}`,
    );
  else if (descriptor.hosting !== 'wasm' && noPrograms !== undefined)
    add('/hosting', `needs a sandbox, which this machine cannot make: ${noPrograms}`);
  else if (
    descriptor.hosting === 'wasm' &&
    !PROTOCOL_VERSIONS.some((version) => version === descriptor.protocol)
  )
    add(
      '/protocol',
      `is ${descriptor.protocol}: this installation runs ${PROTOCOL_VERSIONS.join(' and ')}`,
    );
  if (takesTokens(descriptor) && !hasServiceAudience)
    add(
      '/auth',
      `is ${PLATFORM_AUTH}: the operator of this installation has named no audience for access tokens of services (svc.local.service-audience)`,
    );
  if (descriptor.database !== undefined && kind !== 'wasm')
    add('/database', 'is declared: this installation keeps only journals of modules in databases');
  const { runtime } = descriptor;
  // `svc deploy` declares the version that builds, so to declare another one alone would not help.
  const declared = runtime && versionReason(installed, runtime, ', and declare that version');
  if (declared) add('/runtime', `is ${runtime}: ${declared}`);
  const ofImage = imageRuntime && versionReason(installed, imageRuntime);
  if (ofImage) add('/image', `was built by svc ${imageRuntime}: ${ofImage}`);
  return problems;
}

/** Where the journal of a service is, as far as it decides what the service may declare. */
export interface KnownJournals extends Pick<Journals, 'storageOf'> {
  hasFolder(key: ServiceKey): boolean;
  hasMade(key: ServiceKey): boolean;
  suppliedFrom(key: ServiceKey): string | undefined;
}

/** Returns what the place of the service's journal does not allow. */
export function journalProblems(
  key: ServiceKey,
  descriptor: ServiceDescriptor,
  journals: KnownJournals,
): readonly Problem[] {
  const { hosting, instances = 1 } = descriptor;
  const left = leftJournal(descriptor, {
    supplied: journals.suppliedFrom(key),
    made: journals.hasMade(key) ? 'a database that the installation made' : undefined,
    files: journals.hasFolder(key) ? 'a folder of the installation' : undefined,
    noDatabase: hosting === 'wasm' ? undefined : MODULES_ALONE,
  });
  if (left !== undefined) return [left];
  if (instances <= 1 || journals.storageOf(key, descriptor) !== 'folder') return [];
  const remedy =
    hosting === 'wasm'
      ? '. Declare a database (database.urlFrom)'
      : ', and this installation keeps only journals of modules in databases';
  return [
    {
      path: '/instances',
      reason: `is more than 1: a journal in a folder is for one instance at a time${remedy}`,
    },
  ];
}

/** Returns what is installed, and what to do, if that does not run what needs the other version; undefined if it does. `also`: more of what to do. */
function versionReason(installed: string, needed: string, also = ''): string | undefined {
  const problem = versionProblem(installed, needed);
  if (problem === undefined) return undefined;
  const major = `${installed.split('.')[0]}.x`;
  const remedy = `Build the image with svc ${installed} or an earlier ${major}${also}`;
  return problem === 'older'
    ? `this installation has svc ${installed}, which is older. ${remedy}, or ask its operator to upgrade svc`
    : `this installation has svc ${installed}, which runs ${major} alone. ${remedy}`;
}
