// LocalSurface: what a service on a developer's machine shows of itself (observed-run.ts). Its code is loaded while the
// module is judged and started, so that the announcement of the service waits for little.
import type { SourcePlace } from '@svc/contract';
import type { ObservedRun } from './observed-run.ts';
import type { FaultySpan } from './placed-faults.ts';
import type { ReplacingModule, ServedService, ShownService, Surface } from './surface.ts';

export function localSurface(service: ShownService): Surface {
  return new LocalSurface(service);
}

class LocalSurface implements Surface {
  readonly #service: ShownService;
  #code: Promise<typeof import('./observed-run.ts')> | undefined;
  #run: ObservedRun | undefined;
  /** It came while the one before was about to be shown. */
  #early: ReplacingModule | undefined;

  constructor(service: ShownService) {
    this.#service = service;
  }

  async open(): Promise<void> {
    this.#code = import('./observed-run.ts');
    // Whoever waits for it is told.
    this.#code.catch(() => {});
  }

  async served(served: ServedService): Promise<void> {
    const { ObservedRun: Run } = await (this.#code ?? import('./observed-run.ts'));
    const run = new Run(this.#service);
    await run.served(served);
    this.#run = run;
    if (this.#early !== undefined) run.replaced(this.#early);
  }

  replaced(by: ReplacingModule): void {
    if (this.#run === undefined) this.#early = by;
    else this.#run.replaced(by);
  }

  async placesOf(span: FaultySpan): Promise<readonly SourcePlace[]> {
    return (await this.#run?.placesOf(span)) ?? [];
  }

  stopping(): void {
    this.#run?.stopping();
  }

  async finished(): Promise<void> {
    await this.#run?.finished();
  }

  async close(): Promise<void> {
    await this.#run?.close();
  }
}
