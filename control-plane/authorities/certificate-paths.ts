// CertificatePaths: where the certificates of an installation on one machine are, in the folder of the machine.
import { join } from 'node:path';

export interface CertificatePaths {
  /** Folder of the authorities with their keys. */
  readonly authorities: string;
  /** Folder of everything that the gateway reads. */
  readonly gateway: string;
  /** Folder with the identity of the gateway: tls.crt, tls.key and ca.crt. */
  readonly gatewayIdentity: string;
  /** Folder of the gateway's certificates for hostnames: default.crt and default.key. */
  readonly gatewayCertificates: string;
  /** Certificate of the authority for hostnames, for clients of the gateway. */
  readonly hostnamesAuthority: string;
}

/** `folder`: of the machine (svc.local.folder). */
export function certificatePaths(folder: string): CertificatePaths {
  const gateway = join(folder, 'gateway');
  return {
    authorities: join(folder, 'authorities'),
    gateway,
    gatewayIdentity: join(gateway, 'identity'),
    gatewayCertificates: join(gateway, 'certificates'),
    hostnamesAuthority: join(folder, 'ca.pem'),
  };
}
