// AddressedRoutes: the addresses of the services of this machine, in files in which they find one another (services-files.ts), beside the
// routes of those who route.
//
// Invariants
// A1  The files begin with what they had before, so a start of the control plane makes no service disappear, and ends no hold.
// A2  A hold counts as acknowledged only once the files name the service as held.
// A3  The changes of one look are written together, in a turn of its own: no reader finds a service without instances that is held a
//     moment later.
import type { ServiceKey } from '@svc/client';
import type { Log } from '@svc/kit/log';
import type { RequestRoutes, ServiceRoute } from './request-routes.ts';
import { ServicesFiles } from './services-files.ts';

export interface AddressedRoutesOptions {
  /** Those who route requests. */
  readonly routes: RequestRoutes;
  /** Folder of the files. */
  readonly folder: string;
  /** Keys of the services that are looked after, `<project>/<service>`. */
  readonly known: ReadonlySet<string>;
  readonly log: Log;
}

export class AddressedRoutes implements RequestRoutes {
  readonly #options: AddressedRoutesOptions;
  readonly #addresses: Map<string, readonly string[]>;
  /** Keys of the services whose requests are held. */
  readonly #held: Set<string>;
  readonly #files: ServicesFiles;
  /** Called once the files are written. */
  #acknowledged: (() => void)[] = [];
  #willWrite = false;

  constructor(options: AddressedRoutesOptions) {
    this.#options = options;
    const { folder, known, log } = options;
    this.#files = new ServicesFiles(folder, log);
    const { addresses, held } = this.#files.read();
    this.#addresses = new Map([...addresses].filter(([key]) => known.has(key)));
    this.#held = new Set([...held].filter((key) => known.has(key)));
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
    if (isSame && this.#files.isWritten) return;
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
    this.#files.write({ addresses: this.#addresses, held: this.#held });
  }
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
