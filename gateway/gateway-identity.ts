// GatewayIdentity: the certificates in use by which the gateway proves to services who it is, and verifies them.
import { CertificateFolder } from '@svc/identity/certificate-folder';
import { ClientTls } from '@svc/identity/client-tls';
import { CONNECTION_AGE, connectionTerm, endsOwnConnections } from '@svc/identity/connection-age';
import type { Log } from '@svc/kit/log';
import type { GatewaySection } from './gateway-section.ts';
import type { GatewayIdentitySettings } from './gateway-settings.ts';

export class GatewayIdentity {
  readonly #certificates: CertificateFolder;
  /** Opens connections to instances. */
  readonly client: ClientTls;

  private constructor(certificates: CertificateFolder, connectTimeoutMs: number) {
    this.#certificates = certificates;
    this.client = new ClientTls(certificates, connectTimeoutMs);
  }

  /** Rejects with SVC_CERTIFICATE_MISSING and SVC_CERTIFICATE_UNUSABLE. */
  static async open(
    { folder, ownId }: GatewayIdentitySettings,
    { connectTimeoutMs }: GatewaySection,
    log: Log,
  ): Promise<GatewayIdentity> {
    const certificates = await CertificateFolder.open(folder, { ownId, log });
    return new GatewayIdentity(certificates, connectTimeoutMs);
  }

  /** Calls back when the connections to instances must not be used again. */
  onRenewed(renewed: () => void): void {
    this.#certificates.onGeneration((generation) => {
      if (endsOwnConnections(generation)) renewed();
    });
  }

  close(): void {
    this.#certificates.close();
  }
}

/** Returns an age at which a connection to an instance is not used again, in milliseconds. */
export function instanceConnectionAge({ connectionAgeMs }: GatewaySection): number {
  const age = { ...CONNECTION_AGE, ageMs: connectionAgeMs };
  return connectionTerm(0, 0, Math.random(), age).closesAtMs;
}
