// ProgramFingerprint identifies a program: in the journal, which records the program that writes it, and for the tools
// that read the journal.
import { hash } from 'node:crypto';
import type { Guest } from '@svc/model/guest';

/**
 * Returns the SHA-256 of the descriptor and the version, in hexadecimal digits. A change of the code alone, under the
 * same version, does not change the fingerprint.
 */
export function programFingerprint({
  descriptor,
  fingerprint: version = '',
}: Pick<Guest, 'descriptor' | 'fingerprint'>): string {
  return hash('sha256', `${JSON.stringify(descriptor)}\n${version}`, 'hex');
}
