// ProgramSource: reads the file of a program that exports its components, as a source of guests. The file is imported
// in a thread of its own, which is no sandbox: the caller trusts the file.
import type { ProgramSource } from '../guest-source.ts';
import { PROGRAM_LIMITS_DEFAULT, type ProgramLimits, ProgramThread } from './program-thread.ts';

/**
 * Returns the source of the file. Throws SVC_PROGRAM_INVALID, or SVC_DEFINITION_INVALID like the program itself; both
 * messages name the file.
 */
export function readProgram(
  file: string,
  limits: ProgramLimits = PROGRAM_LIMITS_DEFAULT,
): ProgramSource {
  const thread = new ProgramThread(file, limits);
  const { descriptor, fingerprint } = thread.loaded();
  thread.end();
  return { kind: 'program', file, fingerprint, descriptor };
}
