// Introspection joins the parts by which operators and developers look at a running service: a management server for
// operators (management-part.ts), an observability endpoint and a registration for the console on a developer's
// machine (local-part.ts), and the export of spans (span-export.ts). It runs on the main thread. A service that runs a
// module executes no code of the module there, so introspection answers whatever the guest does; an embedded service
// shares this thread with its guest. Invariant: only a management server that cannot listen fails the service; any
// other failure here is logged.
import type { SourceLocation } from '@svc/contract';
import { httpUrl } from '@svc/kit/listen';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { IntrospectionPart, ServedAddress } from './introspection-part.ts';
import type { FaultySpan } from './located-faults.ts';
import type { ServiceView } from './service-view.ts';

export class Introspection {
  readonly #view: ServiceView;
  readonly #parts: IntrospectionPart[] = [];
  #managementUrl: string | undefined;
  #localCode: Promise<typeof import('./local-part.ts')> | undefined;

  constructor(view: ServiceView) {
    this.#view = view;
  }

  /** URL of the management server; undefined when there is none, or it does not listen yet. */
  get managementUrl(): string | undefined {
    return this.#managementUrl;
  }

  /**
   * Opens the management server. Called before the module is admitted. Rejects with an SvcError if the server cannot
   * listen.
   */
  async open(): Promise<void> {
    const { management, isLocal } = this.#view.settings;
    if (isLocal) {
      // The code is loaded while the module is admitted and started, so that the announcement does not wait for it.
      this.#localCode = import('./local-part.ts');
      this.#localCode.catch(() => {});
    }
    if (management === undefined) return;
    const { ManagementPart } = await import('./management-part.ts');
    const part = new ManagementPart(this.#view);
    this.#managementUrl = httpUrl(await part.listen(management));
    this.#parts.push(part);
  }

  /**
   * Starts the other parts. Called once all shards serve; resolves once a console can find the service. Never
   * rejects.
   */
  async served(address: ServedAddress): Promise<void> {
    const { settings, source } = this.#view;
    for (const part of this.#parts) part.served?.();
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

  /** Locates a fault in the sources. Never rejects; resolves with an empty list if the locations are unknown. */
  async locationsOf(span: FaultySpan): Promise<readonly SourceLocation[]> {
    for (const part of this.#parts)
      if (part.locationsOf !== undefined) return part.locationsOf(span);
    return [];
  }

  stopping(): void {
    for (const part of this.#parts) part.stopping?.();
  }

  async finished(): Promise<void> {
    for (const part of this.#parts) await part.finished?.();
  }

  /** Closes the parts in the reverse order of their start. */
  async close(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.close?.();
  }
}
