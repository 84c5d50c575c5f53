// LocalProblems: what this machine cannot run of a descriptor.
import type { Problem, ServiceDescriptor } from '@svc/client';

export function problemsHere(descriptor: ServiceDescriptor): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, reason: string) => problems.push({ path, reason });
  if (descriptor.hosting !== 'wasm')
    add('/hosting', 'this installation runs services of hosting wasm');
  if ((descriptor.instances ?? 1) > 1)
    add('/instances', 'a journal in a folder is for one instance at a time');
  if (descriptor.database !== undefined)
    add('/database', 'this installation provisions every database');
  return problems;
}
