// EmbeddedCertificate: the certificate with which an embedded service listens, if it listens with TLS.
import type { ServerCertificate } from '@svc/identity/server-certificate';
import type { Log } from '@svc/kit/log';
import { hasHttp, type ServiceOptions } from './embedded-options.ts';

export class EmbeddedCertificate {
  readonly #options: ServiceOptions;
  readonly #log: Log;
  #opened: ServerCertificate | undefined;

  constructor(options: ServiceOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Undefined until it is open, and for a service without TLS. */
  get opened(): ServerCertificate | undefined {
    return this.#opened;
  }

  get scheme(): 'http' | 'https' {
    return this.#opened === undefined ? 'http' : 'https';
  }

  /** Reads the files. Rejects with SVC_CERTIFICATE_MISSING and SVC_CERTIFICATE_UNUSABLE. */
  async open(): Promise<void> {
    const { http } = this.#options;
    const files = typeof http === 'object' && hasHttp(this.#options) ? http.tls : undefined;
    if (files === undefined) return;
    // A service without TLS does not load the code.
    const { ServerCertificate: Certificate } = await import('@svc/identity/server-certificate');
    this.#opened = await Certificate.open(files, { log: this.#log });
  }

  close(): void {
    this.#opened?.close();
  }
}
