// Introspection is what a service shows of itself beside its routes: a management server for operators
// (management-part.ts), an observability endpoint and a registration for the console on a developer's machine
// (local-part.ts), and the export of its spans (span-export.ts). It runs on the main thread, which runs nothing of a
// module, so it answers whatever a guest does. Invariant: only a management server that cannot listen fails a service;
// whatever else fails here is a line of the log.
import type { SourcePlace } from '@svc/contract';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { IntrospectionPart, ServedAddress } from './introspection-part.ts';
import type { FaultySpan } from './placed-faults.ts';
import type { ServiceView } from './service-view.ts';

export class Introspection {
  readonly #view: ServiceView;
  readonly #parts: IntrospectionPart[] = [];
  #localCode: Promise<typeof import('./local-part.ts')> | undefined;

  constructor(view: ServiceView) {
    this.#view = view;
  }

  /** Called before the module is looked at. Rejects with an SvcError when the management server cannot listen. */
  async open(): Promise<void> {
    const { management, isLocal } = this.#view.settings;
    if (isLocal) {
      // The code is loaded while the module is judged and started, so that the announcement waits for little.
      this.#localCode = import('./local-part.ts');
      this.#localCode.catch(() => {});
    }
    if (management === undefined) return;
    const { ManagementPart } = await import('./management-part.ts');
    const part = new ManagementPart(this.#view);
    await part.listen(management);
    this.#parts.push(part);
  }

  /** Called once all shards serve; resolves once a console finds the service. Never rejects. */
  async served(address: ServedAddress): Promise<void> {
    const { settings, source } = this.#view;
    if (settings.isLocal) {
      const { LocalPart } = await (this.#localCode ?? import('./local-part.ts'));
      const part = new LocalPart(this.#view);
      this.#parts.push(part);
      await part.open(address, await source);
    }
    if (settings.otlp === undefined) return;
    const { SpanExport } = await import('./span-export.ts');
    this.#parts.push(new SpanExport(this.#view, settings.otlp, address.descriptor));
  }

  replaced(by: SourceDescription): void {
    for (const part of this.#parts) part.replaced?.(by);
  }

  /** Finds where in the sources a fault was. Never rejects; empty: it is not known. */
  async placesOf(span: FaultySpan): Promise<readonly SourcePlace[]> {
    for (const part of this.#parts) if (part.placesOf !== undefined) return part.placesOf(span);
    return [];
  }

  stopping(): void {
    for (const part of this.#parts) part.stopping?.();
  }

  async finished(): Promise<void> {
    for (const part of this.#parts) await part.finished?.();
  }

  /** The part that began first is closed last. */
  async close(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.close?.();
  }
}
