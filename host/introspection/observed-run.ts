// ObservedRun: what is there while a service is served on a developer's machine: its observability endpoint on loopback,
// the registration file by which a console finds it, a sample of its numbers each second, and the export of its spans.
// It is for looking on: whatever fails in it, the service goes on.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openApi, type SourcePlace } from '@svc/contract';
import { LocalService, type ShownModule } from './local-service.ts';
import { LiveSamples } from './observability/live-samples.ts';
import {
  type ObservabilityEndpoint,
  openObservability,
} from './observability/observability-server.ts';
import { RegistrationFile } from './observability/registration-file.ts';
import type { PastWork } from '../history/reader/history-reader.ts';
import { PastThread } from '../history/reader/history-thread.ts';
import { type FaultySpan, PlacedFaults } from './placed-faults.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import { serviceDescription } from './service-description.ts';
import { type SpanExport, startExport } from './span-export.ts';
import type { ReplacingModule, ServedService, ShownService, Surface } from './surface.ts';

const INSTANCE_ID_BYTES = 8;
const STARTED_AT = new Date(performance.timeOrigin).toISOString();
/** Of a module's fingerprint: nobody gives modules versions. */
const VERSION_DIGITS = 12;

export class ObservedRun implements Omit<Required<Surface>, 'open'> {
  readonly #service: ShownService;
  readonly #instanceId = randomBytes(INSTANCE_ID_BYTES).toString('hex');
  readonly #live: LiveSamples;
  readonly #past: PastThread;
  readonly #faults: PlacedFaults;
  #export: SpanExport | undefined;
  #url: string | undefined;
  #work: PastWork | undefined;
  #shown: LocalService | undefined;
  #endpoint: ObservabilityEndpoint | undefined;
  #file: RegistrationFile | undefined;

  constructor(service: ShownService) {
    this.#service = service;
    const { env, metrics } = service;
    this.#live = new LiveSamples(() => metrics.endpointTotals());
    this.#past = new PastThread({ work: () => this.#work!, env });
    this.#faults = new PlacedFaults(this.#past);
  }

  async served(served: ServedService): Promise<void> {
    const { settings, supervisor, metrics, dev } = this.#service;
    const { ringCapacity } = settings.rooms.observability;
    const { answerTimeoutMs } = settings.rooms.http;
    this.#url = served.url;
    this.#export = startExport(this.#service, served);
    const module = this.#moduleShown({
      file: settings.moduleFile,
      module: await this.#service.module,
    });
    const [live, past, faults] = [this.#live, this.#past, this.#faults];
    this.#shown = new LocalService(
      { supervisor, past, faults, live, metrics, ringCapacity, answerTimeoutMs, dev },
      module,
    );
    try {
      this.#endpoint = await openObservability(this.#shown, (error) =>
        this.#warn('the observability endpoint failed', error),
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

  replaced(by: ReplacingModule): void {
    this.#shown?.show(this.#moduleShown(by));
    this.#past.renew();
    this.#export?.replaced(by.module.descriptor);
  }

  async placesOf(span: FaultySpan): Promise<readonly SourcePlace[]> {
    // Without a map the thread that would look has nothing to look into.
    if (!existsSync(`${this.#service.settings.moduleFile}.map`)) return [];
    await this.#faults.find([span]);
    return span.fault === undefined ? [] : this.#faults.placesOf(span.fault);
  }

  stopping(): void {
    this.#file?.remove();
    void this.#past.close();
  }

  async finished(): Promise<void> {
    // It reads the journal, which is about to be closed.
    await this.#past.close();
    await this.#export?.finish();
  }

  async close(): Promise<void> {
    this.#live.stop();
    this.#file?.remove();
    await this.#endpoint?.close();
    await this.#past.close();
    await this.#export?.close();
  }

  #register(observabilityAddress: string): void {
    const { settings, log } = this.#service;
    const { name, runningFolder } = settings;
    if (runningFolder === undefined) {
      log({
        level: 'warn',
        message: 'there is no home folder to register in; no console finds the service',
        fields: { setting: 'svc.running.dir' },
      });
      return;
    }
    const { pid } = process;
    const instanceId = this.#instanceId;
    try {
      this.#file = new RegistrationFile(runningFolder, {
        name,
        instanceId,
        pid,
        observabilityAddress,
        startedAt: STARTED_AT,
      });
    } catch (error) {
      this.#warn('the service cannot be registered; no console finds it', error);
    }
  }

  /** The module is served from now on. */
  #moduleShown({ file, module }: ReplacingModule): ShownModule {
    const { settings, supervisor, dev } = this.#service;
    const { name, rooms, dataFolder: dir } = settings;
    const { fingerprint, descriptor } = module;
    this.#work = { dir, module, limits: rooms.wasm };
    // On the axis of the spans. Of the first module there may be some already.
    const sinceMs = this.#shown === undefined ? 0 : performance.timeOrigin + performance.now();
    this.#faults.served({ file, fingerprint, sinceMs });
    const url = this.#url;
    const description = serviceDescription({
      name,
      instanceId: this.#instanceId,
      runtimeVersion: RUNTIME_VERSION,
      startedAt: STARTED_AT,
      pid: process.pid,
      dev: dev !== undefined,
      url,
      shards: supervisor.count,
      fingerprint,
      descriptor,
    });
    const version = fingerprint.slice(0, VERSION_DIGITS);
    return { description, descriptor, openApi: openApi(descriptor, { title: name, version, url }) };
  }

  #warn(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#service.log({ level: 'warn', message, fields: { reason } });
  }
}
