// LocalProblems: what this machine cannot run of a descriptor, as far as the descriptor alone shows it.
import type { Problem, ServiceDescriptor } from '@svc/client';
import { PROTOCOL_VERSIONS } from '@svc/contract';

/** `installed`: version of the runtime of this machine, such as `1.4.0`. */
export function problemsHere(descriptor: ServiceDescriptor, installed: string): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, reason: string) => problems.push({ path, reason });
  if (descriptor.hosting !== 'wasm')
    add('/hosting', 'is not wasm: this installation runs services whose module the runtime loads');
  else if (!PROTOCOL_VERSIONS.some((version) => version === descriptor.protocol))
    add(
      '/protocol',
      `is ${descriptor.protocol}: this installation runs ${PROTOCOL_VERSIONS.join(' and ')}`,
    );
  if ((descriptor.instances ?? 1) > 1)
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
