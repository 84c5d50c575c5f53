// OpenedCertificates: the certificates of a service that listens with TLS.
import type { CertificateFolder } from '@svc/identity/certificate-folder';
import type { IdentitySettings } from '@svc/identity/identity-settings';
import type { Log } from '@svc/kit/log';

/**
 * Reads the certificates, before anything listens; undefined if the service listens without TLS. `renewed`: called when there are new ones.
 * Rejects with SVC_CERTIFICATE_….
 */
export async function openCertificates(
  identity: IdentitySettings | undefined,
  log: Log,
  renewed: () => void,
): Promise<CertificateFolder | undefined> {
  if (identity === undefined) return undefined;
  // A service without TLS does not load this code.
  const { CertificateFolder: Folder } = await import('@svc/identity/certificate-folder');
  const { folder, ownId } = identity;
  const certificates = await Folder.open(folder, { ownId, log });
  certificates.onGeneration(renewed);
  return certificates;
}
