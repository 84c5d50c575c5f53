// AddressedRoutes: the addresses of the services of this machine, in a file in which they find one another (forward/file-finder.ts), beside
// the routes of those who route. The file is replaced as a whole, in a turn of its own, and is never waited for to be on the disk: after a start of
// the machine nothing in it is true.
//
// Invariants
// A1  The file begins with what it had before, so a start of the control plane makes no service disappear, and ends no hold.
// A2  A hold counts as acknowledged only once the file names the service as held.
// A3  The changes of one look are written together: no reader finds a service without instances that is held a moment later.
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
  /** Keys of the services whose requests are held. */
  readonly #held: Set<string>;
  /** Called once the file is written. */
  #acknowledged: (() => void)[] = [];
  /** Content of the file; undefined if it could not be written. */
  #written: string | undefined;
  #willWrite = false;

  constructor(options: AddressedRoutesOptions) {
    this.#options = options;
    const before = readJsonFile(options.file);
    this.#addresses = new Map(servicesIn(before).filter(([key]) => options.known.has(key)));
    this.#held = new Set(heldIn(before).filter((key) => options.known.has(key)));
    this.#write();
  }

  route(key: ServiceKey, route: ServiceRoute): void {
    const { routes } = this.#options;
    routes.route(key, route);
    this.#set(
      textOf(key),
      route.instances.map(({ address, port }) => `${address}:${port}`),
    );
    // The mark of a former control plane, or of a hold that has lasted for too long.
    if (routes.holdOf(key) === 'none') this.#mark(textOf(key), false);
  }

  withdraw(key: ServiceKey): void {
    this.#options.routes.withdraw(key);
    this.#set(textOf(key), []);
    this.#mark(textOf(key), false);
  }

  hold(key: ServiceKey, acknowledged: () => void): void {
    this.#mark(textOf(key), true);
    this.#options.routes.hold(key, () => {
      if (this.#willWrite) this.#acknowledged.push(acknowledged);
      else acknowledged();
    });
  }

  release(key: ServiceKey): void {
    this.#options.routes.release(key);
    this.#mark(textOf(key), false);
  }

  get haveRoutersGathered(): boolean {
    return this.#options.routes.haveRoutersGathered;
  }

  holdOf(key: ServiceKey): 'none' | 'asked' | 'acknowledged' {
    const hold = this.#options.routes.holdOf(key);
    return hold === 'acknowledged' && this.#willWrite ? 'asked' : hold;
  }

  isUnused(key: ServiceKey, name: string): boolean {
    return this.#options.routes.isUnused(key, name);
  }

  #set(key: string, addresses: readonly string[]): void {
    const isSame = (this.#addresses.get(key) ?? []).join() === addresses.join();
    if (isSame && this.#written !== undefined) return;
    if (addresses.length === 0) this.#addresses.delete(key);
    else this.#addresses.set(key, addresses);
    this.#writeSoon();
  }

  #mark(key: string, isHeld: boolean): void {
    if (this.#held.has(key) === isHeld) return;
    if (isHeld) this.#held.add(key);
    else this.#held.delete(key);
    this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#willWrite) return;
    this.#willWrite = true;
    setImmediate(() => {
      this.#write();
      for (const acknowledged of this.#acknowledged.splice(0)) acknowledged();
    });
  }

  #write(): void {
    this.#willWrite = false;
    const { file, log } = this.#options;
    const services = Object.fromEntries([...this.#addresses].toSorted(byKey));
    const held = [...this.#held].toSorted();
    const content = JSON.stringify({ services, held });
    if (content === this.#written) return;
    try {
      replaceJsonFile(file, { services, held }, 'fleeting');
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

/** Returns the keys of held services in a parsed file; none if it is of another form. */
function heldIn(value: unknown): readonly string[] {
  const { held } = (value ?? {}) as { readonly held?: unknown };
  return Array.isArray(held) ? held.filter((key) => typeof key === 'string') : [];
}

function byKey([one]: Entry, [other]: Entry): number {
  return one < other ? -1 : 1;
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
