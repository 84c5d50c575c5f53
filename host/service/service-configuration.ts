// ServiceConfiguration is the configuration of the module that a service runs: it reads the values before the journal is opened,
// and again when their files change. Invariants:
// - A module whose values are not complete and valid is not served.
// - Values that are not valid leave those before in use. They are logged once, and the readiness report has them until they are replaced.
import { dirname } from 'node:path';
import { WatchedFolder } from '@svc/identity/watched-folder';
import type { Log } from '@svc/kit/log';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import type { ConfigurationSources } from '../configuration/configuration-values.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import { type ConfigurationTexts, CurrentConfiguration } from '@svc/model/configuration';

type Descriptor = GuestSource['descriptor'];

export interface ServiceConfigurationOptions {
  readonly sources: ConfigurationSources;
  readonly log: Log;
  /** Called with new values that are to be used. */
  readonly onChange: (texts: ConfigurationTexts) => void;
  /** Returns what is wrong with valid values apart from their types; absent: nothing. */
  readonly judge?: ((json: string) => string | undefined) | undefined;
  /** Sentence for the message that says how to give values; absent: by the options of `svc run`, or as a platform takes them. */
  readonly remedy?: string;
  /** Pause in milliseconds between two reads of the files without a change; absent: that of WatchedFolder. */
  readonly pollMs?: number;
}

/** Values, or the problem for which there are none. */
interface Read {
  readonly texts?: ConfigurationTexts | undefined;
  readonly problem?: string;
  /** Whether the only problems are files that may be readable a moment later. */
  readonly isUnreadable?: boolean;
}

const PROBLEMS_SHOWN_MAX = 20;

export class ServiceConfiguration {
  /** The values that were read last. */
  readonly current = new CurrentConfiguration();
  readonly #options: ServiceConfigurationOptions;
  readonly #watched: WatchedFolder[] = [];
  /** Values of each module that may serve; `svc dev` has two of them while one replaces the other. */
  readonly #texts = new WeakMap<Descriptor, ConfigurationTexts>();
  /** The module that was prepared last. */
  #descriptor: Descriptor | undefined;
  /** Why the files cannot be used that are there now; undefined if they can. */
  #problem: string | undefined;
  readonly #logged = new Set<string>();
  #latestSecrets: readonly string[] = [];
  /** Settles with the latest look. */
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ServiceConfigurationOptions) {
    this.#options = options;
  }

  /** Reads the values of a module that is about to be served. Rejects with SVC_CONFIGURATION_UNREADABLE and SVC_CONFIGURATION_INVALID. */
  async prepare({ descriptor }: Pick<GuestSource, 'descriptor'>): Promise<void> {
    const { file, folder, variables, assignments, values = {} } = this.#options.sources;
    const isGiven =
      file !== undefined ||
      folder !== undefined ||
      variables !== undefined ||
      assignments.length > 0 ||
      Object.keys(values).length > 0;
    // A module without a configuration does not load this code.
    if (descriptor.configuration !== undefined || isGiven) {
      const { texts, problem, isUnreadable } = await this.#read(descriptor);
      if (problem !== undefined) throw unusable(problem, this.#remedy, isUnreadable);
      if (texts !== undefined) this.#use(descriptor, texts);
    }
    this.#descriptor = descriptor;
    this.#problem = undefined;
  }

  /** Returns the values of a module that was prepared; undefined if it has no configuration. */
  of({ descriptor }: Pick<GuestSource, 'descriptor'>): ConfigurationTexts | undefined {
    return this.#texts.get(descriptor);
  }

  get #remedy(): string {
    const { remedy, sources } = this.#options;
    return remedy ?? (sources.secrets === undefined ? REMEDY : PLATFORM_REMEDY);
  }

  /** Why the files that are there now are not in use; undefined if they are. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Begins to watch the files. */
  watch(): void {
    const { sources, pollMs } = this.#options;
    const folders = [sources.file && dirname(sources.file), sources.folder, sources.secrets];
    for (const folder of new Set(folders))
      if (folder !== undefined)
        this.#watched.push(new WatchedFolder(folder, { look: () => this.#lookNext(), pollMs }));
    for (const watched of this.#watched) void watched.check();
  }

  close(): void {
    for (const watched of this.#watched) watched.close();
  }

  /** Looks after earlier looks: values that were read before others are never used after them. */
  #lookNext(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    const descriptor = this.#descriptor;
    if (descriptor?.configuration === undefined) return;
    const { texts, problem, isUnreadable } = await this.#read(descriptor);
    // Another module may have been prepared meanwhile.
    if (descriptor !== this.#descriptor || this.#watched.some(({ isClosed }) => isClosed)) return;
    if (problem !== undefined) {
      if (problem === this.#problem) return;
      this.#problem = problem;
      this.#options.log({
        level: 'error',
        message: `the changed configuration cannot be used, and the one before stays in use: ${problem}`,
        fields: { code: codeOf(isUnreadable) },
      });
      return;
    }
    this.#problem = undefined;
    if (texts === undefined || texts.json === this.#texts.get(descriptor)?.json) return;
    this.#options.onChange(this.#use(descriptor, texts));
    this.#options.log({ level: 'info', message: 'a new configuration is in use' });
  }

  /** Takes values into use. Requests that run may still have the secrets before, so they are not printed either. */
  #use(descriptor: Descriptor, { json, secrets }: ConfigurationTexts): ConfigurationTexts {
    const all = new Set([...secrets, ...this.#latestSecrets]);
    this.#latestSecrets = secrets;
    const texts = { json, secrets: [...all].toSorted((one, other) => other.length - one.length) };
    this.#texts.set(descriptor, texts);
    this.current.texts = texts;
    return texts;
  }

  async #read(descriptor: Descriptor): Promise<Read> {
    const { gatherConfiguration } = await import('../configuration/configuration-values.ts');
    const { texts, problems, isUnreadable, warnings } = await gatherConfiguration(
      this.#options.sources,
      descriptor,
    );
    for (const message of warnings) {
      if (this.#logged.has(message)) continue;
      this.#logged.add(message);
      this.#options.log({ level: 'warn', message });
    }
    if (problems.length === 0) {
      const problem = texts && this.#options.judge?.(texts.json);
      // The judge may quote a value: its rules are the program's.
      return problem === undefined
        ? { texts }
        : { problem: new CurrentConfiguration(texts).withoutSecrets(problem) };
    }
    const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
    const more = problems.length - shown.length;
    return {
      problem: `${shown.join('; ')}${more === 0 ? '' : `; and ${more} more`}`,
      isUnreadable,
    };
  }
}

const REMEDY =
  'Give the values with --configuration FILE, --configuration-folder FOLDER or --configure NAME=VALUE.';
const PLATFORM_REMEDY =
  "Declare values in env of the service's descriptor. A secret is a file of its name, which the operator of the installation provides.";

function codeOf(isUnreadable = false): SvcErrorCode {
  return isUnreadable ? 'SVC_CONFIGURATION_UNREADABLE' : 'SVC_CONFIGURATION_INVALID';
}

function unusable(problem: string, remedy: string, isUnreadable: boolean | undefined): SvcError {
  return new SvcError(
    codeOf(isUnreadable),
    `The configuration cannot be used: ${problem}. ${remedy}`,
  );
}
