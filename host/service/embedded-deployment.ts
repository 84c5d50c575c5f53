// EmbeddedDeployment is what an embedded service has if its settings come from the environment: the identity with which it
// listens and calls other services, and the standby in which it waits for its data folder.
import type { CertificateFolder } from '@svc/identity/certificate-folder';
import type { Log } from '@svc/kit/log';
import type { ServiceStatus } from '@svc/kit/service-status';
import type { SvcError } from '@svc/kit/svc-error';
import type { MutualTls } from '../http/mutual-tls.ts';
import type { JournalSeries } from '../storage/journal-series.ts';
import { journalAt } from '../storage/journal-location.ts';
import { standByJournal } from '../storage/opened-journal.ts';
import { PROGRAM_WORDS } from './embedded-storage.ts';
import type { GivenSockets } from './given-sockets.ts';
import type { JournalOpening, JournalUser } from './journal-opening.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings } from './settings.ts';
import { Standby } from './standby.ts';
import { checkStoredTypes } from './takeover-check.ts';
import { ignoredComponents } from './upgrade-settings.ts';

export interface DeploymentOptions {
  readonly settings: Settings<SettingsSections>;
  readonly status: ServiceStatus;
  readonly log: Log;
  /** Identity and descriptor of the program's components. */
  readonly program: JournalUser;
  /** Receives the counts of the journal's writer. */
  readonly series: JournalSeries;
  /** Called if the service has locked its data folder and does not serve in time. */
  readonly onLate: (error: SvcError) => void;
}

export class EmbeddedDeployment {
  readonly #options: DeploymentOptions;
  readonly #ended = new AbortController();
  readonly #standby: Standby | undefined;
  #certificates: CertificateFolder | undefined;
  #tls: MutualTls | undefined;

  constructor(options: DeploymentOptions) {
    this.#options = options;
    this.#standby = options.settings.standby ? this.#makeStandby() : undefined;
  }

  /** Sockets that the process was given. */
  get sockets(): GivenSockets {
    return this.#options.settings.sockets;
  }

  /** TLS of the server; undefined until `open`, and without an identity. */
  get tls(): MutualTls | undefined {
    return this.#tls;
  }

  /** Whether the service waits for its data folder and for nothing else. */
  get isPrepared(): boolean {
    return this.#standby?.isPrepared ?? false;
  }

  /** How the service finds others that it calls; undefined: it calls none. */
  get network() {
    const { network, identity } = this.#options.settings;
    const certificates = this.#certificates;
    if (network.kind !== 'installation' || identity === undefined || certificates === undefined)
      return undefined;
    const { project, rules } = identity;
    return { ...network, project, trustDomain: rules.trustDomain, certificates };
  }

  /** Reads the certificates, and starts the journal's writer for the standby. Rejects with SVC_CERTIFICATE_MISSING and SVC_CERTIFICATE_UNUSABLE. */
  async open(): Promise<void> {
    const { settings, log } = this.#options;
    const { identity } = settings;
    if (identity !== undefined) {
      // A service without TLS does not load this code.
      const [{ CertificateFolder: Folder }, { MutualTls: Tls }] = await Promise.all([
        import('@svc/identity/certificate-folder'),
        import('../http/mutual-tls.ts'),
      ]);
      const { folder, ownId, project, rules } = identity;
      this.#certificates = await Folder.open(folder, { ownId, log });
      this.#tls = new Tls(this.#certificates, project, rules);
    }
    this.#standby?.start();
    // The components of a program have started when it serves them.
    this.#standby?.shardStarted();
  }

  /** Returns how the journal is opened: in standby, once its folder is free. `signal` ends the wait for the folder. */
  journalOpening(signal: AbortSignal): Pick<JournalOpening, 'open' | 'ignoreComponents'> {
    const { ignoreComponents, sections } = this.#options.settings;
    signal.addEventListener('abort', () => this.#ended.abort(signal.reason), { once: true });
    const standby = this.#standby;
    return {
      open: standby && ((fingerprint) => standby.open(fingerprint)),
      ignoreComponents: ignoredComponents(ignoreComponents, sections.upgrade),
    };
  }

  /** Called once the service serves. */
  served(): void {
    this.#standby?.served();
    this.#options.status.enter('ready');
  }

  /** Ends the wait for the data folder, and closes what `open` has opened. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#standby?.close();
    this.#certificates?.close();
  }

  #makeStandby(): Standby {
    const { settings, status, log, program, series, onLate } = this.#options;
    const { dataFolder, database, ignoreComponents, sections } = settings;
    const { journal, timers, standby, upgrade } = sections;
    const location = journalAt(dataFolder, database);
    return new Standby({
      settings: standby,
      shards: 1,
      openJournal: () =>
        standByJournal(location, {
          limits: journal,
          timerLimits: timers,
          series,
          warn: (message) => log({ level: 'warn', message }),
        }),
      check: async () =>
        checkStoredTypes(program, { location, ignoreComponents, upgrade, words: PROGRAM_WORDS }),
      signal: this.#ended.signal,
      onPrepared: () => status.enter('prepared'),
      onLate,
    });
  }
}
