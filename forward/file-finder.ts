// FileFinder: finds services in a JSON file that a local orchestrator writes and replaces:
// {"services": {"shop/cart": ["127.0.0.1:4001", "[::1]:4002"]}}
//
// Invariants: a file that cannot be read or is not valid leaves the former one in use, and is reported once for each of its
// contents. The file is read when it changes, and looked at from time to time, because watching can miss changes.
import { clusterHost, serviceReferenceOf, type ServiceReference } from '@svc/client';
import { watch, type FSWatcher } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname } from 'node:path';
import { serviceAuthority } from './authority.ts';
import {
  ADDRESSES_MAX,
  notFound,
  type FoundService,
  type InstanceAddress,
  type ServiceFinder,
} from './service-finder.ts';

export interface FileFinderOptions {
  readonly file: string;
  /** Project of `<service>` without a project. */
  readonly project: string;
  /** How often the file is looked at, in milliseconds. */
  readonly lookEveryMs: number;
  /** Receives why the file is not used, worded to follow a colon. */
  readonly onProblem: (reason: string) => void;
}

const FILE_BYTES_MAX = 4 * 1024 * 1024;
const ADDRESS = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9a-f:.]+)\]):(\d{1,5})$/;

type ServiceTable = ReadonlyMap<string, readonly InstanceAddress[]>;

export class FileFinder implements ServiceFinder {
  readonly #options: FileFinderOptions;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #services: ServiceTable | undefined;
  /** Content of the file, or why it was not read, when it was last judged. */
  #judged: string | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: FileFinderOptions) {
    this.#options = options;
    this.#watch();
    this.#timer = setInterval(() => {
      this.#watch();
      void this.#read();
    }, options.lookEveryMs);
    this.#timer.unref();
  }

  async find({
    service,
    project = this.#options.project,
  }: ServiceReference): Promise<FoundService> {
    if (this.#services === undefined) await this.#read();
    const addresses = this.#services?.get(`${project}/${service}`);
    if (addresses === undefined || addresses.length === 0)
      return notFound(
        this.#services === undefined
          ? 'the file of services is not usable'
          : 'it is not in the file',
      );
    const { port } = addresses[0]!;
    const authority = serviceAuthority(clusterHost({ service, project }), port, 'https');
    return { kind: 'found', authority, addresses };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Watches the folder, because the file is replaced as a whole. Does nothing if the folder is watched. */
  #watch(): void {
    if (this.#watcher !== undefined) return;
    const { file } = this.#options;
    try {
      const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
        if (name === null || name === basename(file)) void this.#read();
      });
      // Its folder was removed, for example: the timer watches it again.
      watcher.on('error', () => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch {
      this.#watcher = undefined;
    }
  }

  /** Reads the file. A call during a read waits for it, and reads again. */
  async #read(): Promise<void> {
    await this.#reading;
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { file } = this.#options;
    let text: string;
    try {
      const { size } = await stat(file);
      if (size > FILE_BYTES_MAX) {
        this.#report(`it is larger than ${FILE_BYTES_MAX} bytes`, `size ${size}`);
        return;
      }
      text = await readFile(file, 'utf8');
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      this.#report(code === 'ENOENT' ? 'it does not exist' : `the system says ${code}`, code);
      return;
    }
    if (text === this.#judged) return;
    const services = servicesOf(text);
    if (typeof services === 'string') {
      this.#report(services, text);
      return;
    }
    this.#judged = text;
    this.#services = services;
  }

  #report(reason: string, content: string): void {
    if (this.#judged === content) return;
    this.#judged = content;
    this.#options.onProblem(reason);
  }
}

/** Parses the file; returns what is wrong with it, worded to follow a colon. */
function servicesOf(text: string): ServiceTable | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'it is no JSON, or not completely written';
  }
  const services = isRecord(json) ? json['services'] : undefined;
  if (!isRecord(services)) return 'it is no object with "services"';
  const table = new Map<string, readonly InstanceAddress[]>();
  for (const [name, listed] of Object.entries(services)) {
    const [project = '', service = '', ...others] = name.split('/');
    if (others.length > 0 || serviceReferenceOf(`${service}.${project}`) === undefined)
      return `${JSON.stringify(name.slice(0, 200))} is not <project>/<service>`;
    if (!Array.isArray(listed)) return `${name} has no list of addresses`;
    const addresses = listed.slice(0, ADDRESSES_MAX).map(addressOf);
    if (!addresses.every((address) => address !== undefined))
      return `${name} has an entry that is not ADDRESS:PORT with a numeric address`;
    table.set(name, addresses);
  }
  return table;
}

function addressOf(text: unknown): InstanceAddress | undefined {
  const found = typeof text === 'string' ? ADDRESS.exec(text) : null;
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host === undefined || isIP(host) === 0 || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
