// ClusterCertificates are the certificates and keys of a Kubernetes API server for tests, of an authority of its own.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CertificateAuthority,
  type CertificateContents,
  type IssuedCertificate,
} from '../certificates/certificate-authority.ts';

export class ClusterCertificates {
  /** Holds `NAME.crt` and `NAME.key` for each certificate, `ca.crt`, and `tokens.key` and `tokens.pub` for ServiceAccounts. */
  readonly folder: string;
  readonly authority: string;
  readonly #issuer: CertificateAuthority;

  private constructor(folder: string, issuer: CertificateAuthority) {
    this.folder = folder;
    this.authority = issuer.certificate;
    this.#issuer = issuer;
  }

  static async create(folder: string): Promise<ClusterCertificates> {
    mkdirSync(folder, { mode: 0o700 });
    const certificates = new ClusterCertificates(
      folder,
      await CertificateAuthority.create('test-cluster'),
    );
    certificates.#write('ca.crt', certificates.authority);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    certificates.#write('tokens.key', privateKey.export({ type: 'sec1', format: 'pem' }));
    certificates.#write('tokens.pub', publicKey.export({ type: 'spki', format: 'pem' }));
    return certificates;
  }

  /** Issues a certificate, and writes it and its key. */
  async issue(name: string, contents: CertificateContents): Promise<IssuedCertificate> {
    const issued = await this.#issuer.issue(contents);
    this.#write(`${name}.crt`, issued.certificate);
    this.#write(`${name}.key`, issued.key);
    return issued;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  #write(name: string, content: string | Buffer): void {
    writeFileSync(this.file(name), content, { mode: 0o600 });
  }
}
