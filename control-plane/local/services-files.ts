// ServicesFiles: the files in which the services of this machine find one another (forward/file-finder.ts). One has all services, for
// programs of the platform. Programs of members get one for each project, which says nothing of other projects.
//
// Invariants
// - A file is replaced as a whole, and never waited for to be on the disk: after a start of the machine nothing in it is true.
// - A file that could not be written, such as on a full disk, is tried again by the next `write`.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '@svc/kit/log';
import { readJsonFile, replaceJsonFile } from './json-file.ts';

const NAME = 'services.json';

export interface ListedServices {
  /** Addresses of the instances, `ADDRESS:PORT`, by `<project>/<service>`. */
  readonly addresses: ReadonlyMap<string, readonly string[]>;
  /** Keys of the services whose requests are held. */
  readonly held: ReadonlySet<string>;
}

/** Returns the file with all services. */
export function servicesFileIn(folder: string): string {
  return join(folder, NAME);
}

/** Returns the folder in which the services of the project are, and nothing else: `services.json`. */
export function projectServicesFolder(folder: string, project: string): string {
  return join(folder, 'projects', project);
}

export class ServicesFiles {
  readonly #folder: string;
  readonly #log: Log;
  readonly #projects: Set<string>;
  /** Contents by file. One that could not be written is missing. */
  readonly #written = new Map<string, string>();
  #isWritten = false;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
    const projects = join(folder, 'projects');
    this.#projects = new Set(existsSync(projects) ? readdirSync(projects) : []);
  }

  /** False: `write` has to be called again. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Returns what is in the file with all services; nothing if it is of another form. */
  read(): ListedServices {
    const { services, held } = (readJsonFile(servicesFileIn(this.#folder)) ?? {}) as {
      readonly services?: unknown;
      readonly held?: unknown;
    };
    return {
      addresses: new Map(addressesIn(services)),
      held: new Set(Array.isArray(held) ? held.filter((key) => typeof key === 'string') : []),
    };
  }

  /** Writes the files that change. */
  write({ addresses, held }: ListedServices): void {
    const all = [...addresses].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const allHeld = [...held].toSorted();
    this.#isWritten = this.#replace(servicesFileIn(this.#folder), all, allHeld);
    for (const key of [...addresses.keys(), ...held]) this.#projects.add(projectOf(key));
    for (const project of this.#projects) {
      const isOwn = (key: string) => projectOf(key) === project;
      const isDone = this.#replace(
        join(projectServicesFolder(this.#folder, project), NAME),
        all.filter(([key]) => isOwn(key)),
        allHeld.filter(isOwn),
      );
      this.#isWritten &&= isDone;
    }
  }

  #replace(file: string, addresses: readonly Entry[], held: readonly string[]): boolean {
    const value = { services: Object.fromEntries(addresses), held };
    const content = JSON.stringify(value);
    if (this.#written.get(file) === content) return true;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      replaceJsonFile(file, value, 'fleeting');
      this.#written.set(file, content);
      return true;
    } catch (error) {
      this.#log({
        level: 'error',
        message: 'The addresses of services cannot be written',
        fields: { file, error: (error as Error).message },
      });
      this.#written.delete(file);
      return false;
    }
  }
}

type Entry = readonly [key: string, addresses: readonly string[]];

function addressesIn(services: unknown): readonly Entry[] {
  if (typeof services !== 'object' || services === null) return [];
  return Object.entries(services).filter(
    (entry): entry is [string, string[]] =>
      Array.isArray(entry[1]) && entry[1].every((address) => typeof address === 'string'),
  );
}

function projectOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
