// SandboxedProcess: the program that runs in the sandbox of an instance. The process that was started keeps the sandbox: it ends with the
// program, and with its exit code, and a signal to it ends the program at once.
import { hostingKind } from '@svc/client';
import { onlyGrandchildOf } from '@svc/kit/process-start';
import type { InstanceFolder } from '../instance-folder.ts';

/** Whether the process of the instance keeps a sandbox, whose program sees other ids of processes. */
export function isSandboxed({ spec }: InstanceFolder): boolean {
  return spec.imageFolder !== undefined && hostingKind({ ...spec.descriptor }) === 'embedded';
}

/** Returns the id of the program whose sandbox the process keeps; undefined if there is none, such as before it has begun. */
export function sandboxedProgram(folder: InstanceFolder, process: number): number | undefined {
  // Between the two is bubblewrap, the first process of the sandbox's outer namespace. pasta, another child, has no children.
  return isSandboxed(folder) ? onlyGrandchildOf(process) : undefined;
}
