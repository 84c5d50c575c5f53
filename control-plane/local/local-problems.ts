// LocalProblems: what this machine cannot run of a descriptor, as far as the descriptor alone shows it.
import { hostingKind, type Problem, type ServiceDescriptor } from '@svc/client';
import { PROTOCOL_VERSIONS } from '@svc/contract';

export interface Runnable {
  /** Version of the runtime of this machine, such as `1.4.0`. */
  readonly version: string;
  /** Why it runs no programs of images, worded to follow a colon; undefined if it does. */
  readonly noPrograms: string | undefined;
}

export function problemsHere(
  descriptor: ServiceDescriptor,
  { version: installed, noPrograms }: Runnable,
): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, reason: string) => problems.push({ path, reason });
  const kind = hostingKind({ ...descriptor });
  if (kind === 'process')
    add('/protocol', 'has components in a process: this installation does not run those yet');
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
  if (kind !== 'web' && (descriptor.instances ?? 1) > 1)
    add('/instances', 'is more than 1: a journal in a folder is for one instance at a time');
  if (descriptor.database !== undefined)
    add('/database', 'is declared: this installation provisions the database of each service');
  const { runtime } = descriptor;
  if (runtime !== undefined && !isSufficient(installed, runtime))
    add('/runtime', `is ${runtime}: this installation has ${installed}`);
  return problems;
}

/** The installed version has the same major version as the declared one, and is not older. */
function isSufficient(installed: string, declared: string): boolean {
  const [has, needs] = [installed, declared].map((version) =>
    version.split(/[-+]/)[0]!.split('.').map(Number),
  ) as [number[], number[]];
  if (has[0] !== needs[0]) return false;
  for (const [index, number] of needs.entries()) {
    const difference = (has[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
