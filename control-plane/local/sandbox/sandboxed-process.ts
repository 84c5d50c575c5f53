// SandboxedProcess: the program that bubblewrap runs as the process of an instance. The process that was started is bubblewrap: it ends
// with the program, and with its exit code, but a signal to it ends the program at once.
import { hostingKind } from '@svc/client';
import { isChildOf } from '@svc/kit/process-start';
import type { InstanceFolder } from '../instance-folder.ts';
import { readJsonFile } from '../json-file.ts';

/** Whether the process of the instance is bubblewrap, and its program sees other ids of processes. */
export function isSandboxed({ spec }: InstanceFolder): boolean {
  return spec.imageFolder !== undefined && hostingKind({ ...spec.descriptor }) === 'embedded';
}

/** Returns the id of the program that the process runs; undefined if it runs none, such as before it has begun. */
export function sandboxedProgram(folder: InstanceFolder, process: number): number | undefined {
  if (!isSandboxed(folder)) return undefined;
  const { 'child-pid': pid } = (readJsonFile(folder.sandboxFile) ?? {}) as {
    readonly 'child-pid'?: unknown;
  };
  return Number.isSafeInteger(pid) && isChildOf(pid as number, process)
    ? (pid as number)
    : undefined;
}
