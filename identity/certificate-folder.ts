// CertificateFolder: watches the folder with tls.crt, tls.key and ca.crt, and takes new files into use.
//
// Invariant: files that cannot be used leave those before in use, and are logged once for each content.
import { createHash } from 'node:crypto';
import type { LogEntry } from '@svc/kit/log-entry';
import { SvcError } from '@svc/kit/svc-error';
import { expiryEntry, expiryStage } from './certificate-expiry.ts';
import { readCertificateFiles } from './certificate-files.ts';
import {
  type CertificateGeneration,
  CertificateGenerations,
  type CertificateSource,
} from './certificate-generations.ts';
import { type CertificateTexts, parseCertificates } from './certificates.ts';
import { WatchedFolder } from './watched-folder.ts';

export interface CertificateFolderOptions {
  /** SPIFFE ID that the certificate has to name; absent: any. */
  readonly ownId?: string;
  readonly log: (entry: LogEntry) => void;
  /** Pause in milliseconds between two reads of the folder. */
  readonly pollMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class CertificateFolder implements CertificateSource {
  readonly #folder: WatchedFolder;
  readonly #generations: CertificateGenerations;
  readonly #log: (entry: LogEntry) => void;
  readonly #now: () => number;
  /** Digest of what was logged last as unusable. */
  #refused: string | undefined;
  #expiryStage = 0;

  private constructor(
    folder: string,
    generations: CertificateGenerations,
    { log, pollMs, now = Date.now }: CertificateFolderOptions,
  ) {
    this.#folder = new WatchedFolder(folder, { look: () => this.#look(), pollMs });
    this.#generations = generations;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Reads the folder and watches it. Rejects with SVC_CERTIFICATE_MISSING if a file cannot be read, and with
   * SVC_CERTIFICATE_UNUSABLE if the files cannot be used.
   */
  static async open(folder: string, options: CertificateFolderOptions): Promise<CertificateFolder> {
    const { ownId, now = Date.now } = options;
    const texts = await readCertificateFiles(folder);
    if (texts === undefined || 'missing' in texts)
      throw new SvcError(
        'SVC_CERTIFICATE_MISSING',
        `The certificates of this service cannot be read: ${texts?.missing ?? `the files of ${folder} are being replaced all the time.`} ` +
          'Mount a folder with tls.crt, tls.key and ca.crt, and name it in the settings.',
      );
    const first = parseCertificates(texts, now(), ownId);
    if ('problem' in first)
      throw new SvcError(
        'SVC_CERTIFICATE_UNUSABLE',
        `The certificates in ${folder} cannot be used: ${first.problem} Let them be issued again.`,
      );
    const opened = new CertificateFolder(folder, new CertificateGenerations(first, ownId), options);
    await opened.check();
    return opened;
  }

  get current(): CertificateGeneration {
    return this.#generations.current;
  }

  onGeneration(listener: (generation: CertificateGeneration) => void): () => void {
    return this.#generations.onGeneration(listener);
  }

  /** Reads the folder now. Resolves once a change that was there before the call is in use or refused. */
  check(): Promise<void> {
    return this.#folder.check();
  }

  close(): void {
    this.#folder.close();
  }

  async #look(): Promise<void> {
    const texts = await readCertificateFiles(this.#folder.path);
    if (texts === undefined || this.#folder.isClosed) return;
    if ('missing' in texts) this.#refuse(texts.missing, texts.missing);
    else this.#offer(texts);
    this.#warnOfExpiry();
  }

  #offer(texts: CertificateTexts): void {
    const before = this.current.number;
    const unusable = this.#generations.offer(texts, this.#now());
    if (unusable !== undefined) {
      this.#refuse(unusable.problem, JSON.stringify(texts));
      return;
    }
    this.#refused = undefined;
    const { number, certificates, authoritiesAdded, authoritiesRemoved } = this.current;
    if (number === before) return;
    this.#expiryStage = 0;
    this.#log({
      level: 'info',
      message: 'New certificates are in use',
      fields: {
        folder: this.#folder.path,
        expiresAt: certificates.leaf.validToDate.toISOString(),
        authoritiesAdded,
        authoritiesRemoved,
      },
    });
  }

  #refuse(problem: string, content: string): void {
    const refused = createHash('sha256').update(content).digest('base64');
    if (refused === this.#refused) return;
    this.#refused = refused;
    this.#log({
      level: 'warn',
      message: `New certificates cannot be used: ${problem} The previous ones remain in use.`,
      fields: { folder: this.#folder.path },
    });
  }

  #warnOfExpiry(): void {
    const { leaf } = this.current.certificates;
    const stage = expiryStage(leaf, this.#now());
    if (stage <= this.#expiryStage) return;
    this.#expiryStage = stage;
    this.#log(expiryEntry(leaf, { folder: this.#folder.path }, this.#now()));
  }
}
