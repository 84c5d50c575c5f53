// CertificateFiles writes the files of a certificate folder for tests: as plain files, or as Kubernetes mounts them.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateTexts } from '../../../identity/certificates.ts';
import type { CertificateAuthority, IssuedCertificate } from './certificate-authority.ts';

const FILES = { certificate: 'tls.crt', key: 'tls.key', authorities: 'ca.crt' } as const;

export function certificateTexts(
  { certificate, key }: IssuedCertificate,
  ...authorities: readonly CertificateAuthority[]
): CertificateTexts {
  return { certificate, key, authorities: authorities.map((ca) => ca.certificate).join('') };
}

/** Writes those of the files that are given. */
export function writeCertificates(folder: string, texts: Partial<CertificateTexts>): void {
  for (const [key, text] of Object.entries(texts))
    writeFileSync(join(folder, FILES[key as keyof CertificateTexts]), text);
}

let versions = 0;

/** Writes the files into a new folder, and then turns the link `..data` to it, as Kubernetes does for a secret. */
export function mountCertificates(folder: string, texts: CertificateTexts): void {
  const version = `..version-${++versions}`;
  mkdirSync(join(folder, version));
  writeCertificates(join(folder, version), texts);
  symlinkSync(version, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const name of Object.values(FILES)) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(join('..data', name), join(folder, name));
  }
}
