// FileFinder: finds services in a JSON file that a local orchestrator writes and replaces:
// {"services": {"shop/cart": ["127.0.0.1:4001", "[::1]:4002"]}, "held": ["shop/cart"]}
//
// Invariants
// - A file that cannot be read or is not valid leaves the former one in use, and is reported once for each of its contents.
// - The file is read when it changes, and looked at from time to time, because watching can miss changes.
// - A service is held as long as its mark is in the file, and no longer than `HOLD_MARK_MS_MAX`.
import { clusterHost, serviceReferenceOf, type ServiceReference } from '@svc/client';
import { watch, type FSWatcher } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname } from 'node:path';
import { serviceAuthority } from './authority.ts';
import { HOLD_MARK_MS_MAX } from './forward-limits.ts';
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
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  /** Receives why the file is not used, worded to follow a colon. */
  readonly onProblem: (reason: string) => void;
}

const FILE_BYTES_MAX = 4 * 1024 * 1024;
const ADDRESS = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9a-f:.]+)\]):(\d{1,5})$/;

interface ServiceTable {
  readonly services: ReadonlyMap<string, readonly InstanceAddress[]>;
  readonly held: ReadonlySet<string>;
}

export class FileFinder implements ServiceFinder {
  readonly #options: FileFinderOptions;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #table: ServiceTable | undefined;
  /** When the mark of each held service was first seen. */
  readonly #heldSinceMs = new Map<string, number>();
  readonly #listeners: ((key: string) => void)[] = [];
  /** Content of the file, or why it was not read, when it was last judged. */
  #judged: string | undefined;
  #reading: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FileFinderOptions) {
    this.#options = options;
    this.#watch();
    this.#timer = setInterval(() => {
      this.#watch();
      void this.#read();
    }, options.lookEveryMs);
    this.#timer.unref();
  }

  async find(
    { service, project = this.#options.project }: ServiceReference,
    isFresh = false,
  ): Promise<FoundService> {
    if (this.#table === undefined || isFresh) await this.#read();
    const key = `${project}/${service}`;
    if (this.#isHeld(key)) return { kind: 'held', key };
    const addresses = this.#table?.services.get(key);
    if (addresses === undefined || addresses.length === 0)
      return notFound(
        this.#table === undefined ? 'the file of services is not usable' : 'it is not in the file',
      );
    const { port } = addresses[0]!;
    const authority = serviceAuthority(clusterHost({ service, project }), port, 'https');
    return { kind: 'found', authority, addresses };
  }

  onReleased(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Ends the looks at the file. A read that is on its way is dropped. */
  close(): void {
    this.#isClosed = true;
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
    const table = tableOf(text);
    if (typeof table === 'string') {
      this.#report(table, text);
      return;
    }
    this.#judged = text;
    this.#use(table);
  }

  #use(table: ServiceTable): void {
    this.#table = table;
    for (const key of table.held)
      if (!this.#heldSinceMs.has(key)) this.#heldSinceMs.set(key, this.#options.now());
    const released = [...this.#heldSinceMs.keys()].filter((key) => !table.held.has(key));
    for (const key of released) this.#heldSinceMs.delete(key);
    for (const key of released) for (const listener of this.#listeners) listener(key);
  }

  #isHeld(key: string): boolean {
    const sinceMs = this.#heldSinceMs.get(key);
    return sinceMs !== undefined && this.#options.now() - sinceMs < HOLD_MARK_MS_MAX;
  }

  #report(reason: string, content: string): void {
    if (this.#isClosed || this.#judged === content) return;
    this.#judged = content;
    this.#options.onProblem(reason);
  }
}

/** Parses the file; returns what is wrong with it, worded to follow a colon. */
function tableOf(text: string): ServiceTable | string {
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
    if (!isKey(name)) return `${JSON.stringify(name.slice(0, 200))} is not <project>/<service>`;
    if (!Array.isArray(listed)) return `${name} has no list of addresses`;
    const addresses = listed.slice(0, ADDRESSES_MAX).map(addressOf);
    if (!addresses.every((address) => address !== undefined))
      return `${name} has an entry that is not ADDRESS:PORT with a numeric address`;
    table.set(name, addresses);
  }
  const held = isRecord(json) ? (json['held'] ?? []) : [];
  if (!Array.isArray(held) || !held.every((name) => typeof name === 'string' && isKey(name)))
    return '"held" is no list of <project>/<service>';
  return { services: table, held: new Set(held) };
}

function isKey(name: string): boolean {
  const [project = '', service = '', ...others] = name.split('/');
  return others.length === 0 && serviceReferenceOf(`${service}.${project}`) !== undefined;
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
