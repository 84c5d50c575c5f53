// AddressedRoutes: the addresses of the services of this machine, in a file in which they find one another (forward/file-finder.ts), beside
// the routes of those who route. The file is replaced as a whole, and begins with what it had before, so a start of the control plane
// makes no service disappear. It is written in a turn of its own, so that no request that is held waits for the disk.
import type { ServiceKey } from '@svc/client';
import type { Log } from '@svc/kit/log';
import { readJsonFile, replaceJsonFile } from './json-file.ts';
import type { RequestRoutes, ServiceRoute } from './request-routes.ts';

export interface AddressedRoutesOptions {
  /** Those who route requests. */
  readonly routes: RequestRoutes;
  readonly file: string;
  /** Keys of the services that are looked after, `<project>/<service>`. */
  readonly known: ReadonlySet<string>;
  readonly log: Log;
}

export class AddressedRoutes implements RequestRoutes {
  readonly #options: AddressedRoutesOptions;
  readonly #addresses: Map<string, readonly string[]>;
  /** Content of the file; undefined if it could not be written. */
  #written: string | undefined;
  #willWrite = false;

  constructor(options: AddressedRoutesOptions) {
    this.#options = options;
    const before = servicesIn(readJsonFile(options.file));
    this.#addresses = new Map(before.filter(([key]) => options.known.has(key)));
    this.#write();
  }

  route(key: ServiceKey, route: ServiceRoute): void {
    const { routes } = this.#options;
    routes.route(key, route);
    this.#set(
      textOf(key),
      route.instances.map(({ address, port }) => `${address}:${port}`),
    );
  }

  withdraw(key: ServiceKey): void {
    this.#options.routes.withdraw(key);
    this.#set(textOf(key), []);
  }

  hold(key: ServiceKey, acknowledged: () => void): void {
    this.#options.routes.hold(key, acknowledged);
  }

  release(key: ServiceKey): void {
    this.#options.routes.release(key);
  }

  get haveRoutersGathered(): boolean {
    return this.#options.routes.haveRoutersGathered;
  }

  holdOf(key: ServiceKey): 'none' | 'asked' | 'acknowledged' {
    return this.#options.routes.holdOf(key);
  }

  isUnused(key: ServiceKey, name: string): boolean {
    return this.#options.routes.isUnused(key, name);
  }

  #set(key: string, addresses: readonly string[]): void {
    const isSame = (this.#addresses.get(key) ?? []).join() === addresses.join();
    if (isSame && this.#written !== undefined) return;
    if (addresses.length === 0) this.#addresses.delete(key);
    else this.#addresses.set(key, addresses);
    if (this.#willWrite) return;
    this.#willWrite = true;
    setImmediate(() => this.#write());
  }

  #write(): void {
    this.#willWrite = false;
    const { file, log } = this.#options;
    const services = Object.fromEntries([...this.#addresses].toSorted(byKey));
    const content = JSON.stringify(services);
    if (content === this.#written) return;
    try {
      replaceJsonFile(file, { services });
      this.#written = content;
    } catch (error) {
      // Such as a full disk. Each service is looked at again soon, and then the file is tried again.
      const { message } = error as Error;
      log({
        level: 'error',
        message: 'The addresses of services cannot be written',
        fields: { file, error: message },
      });
      this.#written = undefined;
    }
  }
}

type Entry = readonly [key: string, addresses: readonly string[]];

/** Returns the entries of a parsed file; none if it is of another form. */
function servicesIn(value: unknown): readonly Entry[] {
  const { services } = (value ?? {}) as { readonly services?: unknown };
  if (typeof services !== 'object' || services === null) return [];
  return Object.entries(services).filter(
    (entry): entry is [string, string[]] =>
      Array.isArray(entry[1]) && entry[1].every((address) => typeof address === 'string'),
  );
}

function byKey([one]: Entry, [other]: Entry): number {
  return one < other ? -1 : 1;
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
