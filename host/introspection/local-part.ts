// LocalPart is the introspection on a developer's machine: the observability endpoint on loopback, the registration
// file by which a console finds it, and a sample of the service's numbers each second. Its failures do not affect the
// service.
import { existsSync } from 'node:fs';
import { openApi, type SourceLocation } from '@svc/contract';
import { type ObservabilityEndpoint, openObservability } from '@svc/kit/observability-server';
import { RegistrationFile } from '@svc/kit/registration-file';
import { newInstanceId, removeStaleRegistrations } from '@svc/kit/stale-registrations';
import type { SourceDescription } from '../hosting/guest-source.ts';
import { LocalService, type ShownModule } from './local-service.ts';
import { LiveSamples } from './observability/live-samples.ts';
import { observed } from './observability/observability-routes.ts';
import { type FaultySpan, LocatedFaults } from './located-faults.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import { serviceDescription } from './service-description.ts';
import type { IntrospectionPart, ServedAddress } from './introspection-part.ts';
import type { ServiceView } from './service-view.ts';

const STARTED_AT = new Date(performance.timeOrigin).toISOString();
/** Number of digits of a module's fingerprint that are shown as its version. */
const VERSION_DIGITS = 12;

export class LocalPart implements IntrospectionPart {
  readonly #view: ServiceView;
  readonly #instanceId = newInstanceId();
  readonly #live: LiveSamples;
  readonly #faults: LocatedFaults;
  #url: string | undefined;
  /** File of the source that is served; undefined if the source came from no file. */
  #file: string | undefined;
  #service: LocalService | undefined;
  #endpoint: ObservabilityEndpoint | undefined;
  #registration: RegistrationFile | undefined;

  constructor(view: ServiceView) {
    this.#view = view;
    this.#live = new LiveSamples(() => view.metrics.endpointTotals());
    this.#faults = new LocatedFaults(view.history);
  }

  /** Opens the endpoint and registers the service. Never rejects: failures are logged. */
  async open({ url }: ServedAddress, source: SourceDescription): Promise<void> {
    const { settings, shards, metrics, views, history, dev, process: code } = this.#view;
    const { ringCapacity } = settings.sections.observability;
    const { answerTimeoutMs } = settings.sections.http;
    this.#url = url;
    const service = new LocalService(
      {
        shards,
        history,
        faults: this.#faults,
        live: this.#live,
        metrics,
        views,
        ringCapacity,
        answerTimeoutMs,
        dev,
        process: code,
      },
      // All spans that began before the first replacement belong to the first source.
      this.#shown(source, 0),
    );
    this.#service = service;
    try {
      this.#endpoint = await openObservability(
        async (target) => observed(service, target),
        (error) => this.#warn('the observability endpoint failed', error),
      );
    } catch (error) {
      this.#warn(
        'the observability endpoint cannot be opened; no console shows the service',
        error,
      );
      return;
    }
    this.#live.start();
    this.#register(this.#endpoint.address);
  }

  replaced(by: SourceDescription): void {
    this.#service?.show(this.#shown(by, performance.timeOrigin + performance.now()));
  }

  async locationsOf(span: FaultySpan): Promise<readonly SourceLocation[]> {
    // Without a source map nothing can be located.
    if (this.#file === undefined || !existsSync(`${this.#file}.map`)) return [];
    await this.#faults.find([span]);
    return span.fault === undefined ? [] : this.#faults.locationsOf(span.fault);
  }

  stopping(): void {
    this.#registration?.remove();
  }

  async close(): Promise<void> {
    this.#live.stop();
    this.#registration?.remove();
    await this.#endpoint?.close();
  }

  #register(observabilityAddress: string): void {
    const { settings, log } = this.#view;
    const { name, runningFolder, names } = settings;
    if (runningFolder === undefined) {
      log({
        level: 'warn',
        message: 'there is no home folder to register in; no console finds the service',
        fields: { setting: names.runningFolder },
      });
      return;
    }
    const { pid } = process;
    const instanceId = this.#instanceId;
    try {
      this.#registration = new RegistrationFile(runningFolder, {
        name,
        instanceId,
        pid,
        observabilityAddress,
        startedAt: STARTED_AT,
      });
      removeStaleRegistrations(runningFolder);
    } catch (error) {
      this.#warn('the service cannot be registered; no console finds it', error);
    }
  }

  /**
   * Notes the source that is served now, and describes it for the endpoint. `sinceMs`: when it began to be served, in
   * milliseconds since 1970; 0 for the first source.
   */
  #shown({ kind, file, fingerprint, descriptor }: SourceDescription, sinceMs: number): ShownModule {
    const { settings, shards, dev, controlSocket } = this.#view;
    const { name } = settings;
    this.#file = file;
    if (file !== undefined) this.#faults.served({ kind, file, fingerprint, sinceMs });
    const url = this.#url;
    const description = serviceDescription({
      name,
      instanceId: this.#instanceId,
      runtimeVersion: RUNTIME_VERSION,
      startedAt: STARTED_AT,
      pid: process.pid,
      dev: dev !== undefined,
      control: controlSocket?.(),
      takesDevelopmentTokens: settings.tokens.developmentKeyFile !== undefined,
      url,
      shards: shards.count,
      fingerprint,
      descriptor,
    });
    const version = fingerprint.slice(0, VERSION_DIGITS);
    return { description, descriptor, openApi: openApi(descriptor, { title: name, version, url }) };
  }

  #warn(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#view.log({ level: 'warn', message, fields: { reason } });
  }
}
