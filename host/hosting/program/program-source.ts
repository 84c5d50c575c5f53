// ProgramSource: reads the file of a program that exports its components, as a source of guests. The file is imported in a
// thread of its own: whoever gives it trusts it, as the program that runs it does.
import type { ProgramSource } from '../guest-source.ts';
import { PROGRAM_LIMITS_DEFAULT, type ProgramLimits, ProgramThread } from './program-thread.ts';

/** Throws SVC_PROGRAM_INVALID, and SVC_DEFINITION_INVALID as the program itself would. Both name the file. */
export function readProgram(
  file: string,
  limits: ProgramLimits = PROGRAM_LIMITS_DEFAULT,
): ProgramSource {
  const thread = new ProgramThread(file, limits);
  const { descriptor, fingerprint } = thread.loaded();
  thread.end();
  return { kind: 'program', file, fingerprint, descriptor };
}
