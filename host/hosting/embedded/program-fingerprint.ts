// ProgramFingerprint identifies a program: in the journal, which records the program that writes it, and for the tools that
// read it.
import { hash } from 'node:crypto';
import type { Guest } from '../../engine/needs/guest.ts';

/**
 * SHA-256 of the descriptor and the version. A program is another one when its types or its version are; code that does
 * something else under the same version is not noticed.
 */
export function programFingerprint({
  descriptor,
  fingerprint: version = '',
}: Pick<Guest, 'descriptor' | 'fingerprint'>): string {
  return hash('sha256', `${JSON.stringify(descriptor)}\n${version}`, 'hex');
}
