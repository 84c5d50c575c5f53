// DeployedProgram is the process of a deployed program. Its service has the settings that `svc run --deployed` reads from the
// environment, and the process the same life: it says in the state file how far it is, ends in order when it is asked to, and ends
// with the same exit codes.
// Invariant: the process ends once, for the first reason, and the state file says why before it ends.
import { createEmbeddedGuest } from '@svc/components/embedded-guest';
import { programFingerprint } from '@svc/components/program-fingerprint';
import { takeListeningSockets } from '@svc/kit/listening-sockets';
import type { LogFiles } from '@svc/kit/log-files';
import type { Log } from '@svc/kit/log';
import { openServiceLog } from '@svc/kit/opened-log';
import { EXIT_OK, reportFailure } from '@svc/kit/program-failure';
import { exitOf, openStatus, type ServiceStatus } from '@svc/kit/service-status';
import { variableName } from '@svc/kit/setting-name';
import { stopRequest } from '@svc/kit/stop-request';
import { EmbeddedDeployment } from './embedded-deployment.ts';
import { introspectionSettings } from './embedded-introspection.ts';
import { checkOptions, type Service, type ServiceOptions } from './embedded-options.ts';
import { EmbeddedService } from './embedded-service.ts';
import { readServiceSettings } from './embedded-settings.ts';
import { EmbeddedStorage } from './embedded-storage.ts';
import { checkEnvironmentOptions, type EnvironmentOptions } from './environment-options.ts';
import {
  checkSections,
  SECTION_DEFAULTS,
  SECTION_RANGES,
  type SettingsSections,
} from './section-settings.ts';
import { announce } from './service-start.ts';
import {
  type HostInputs,
  INTROSPECTION_SETTING_NAMES,
  readSettings,
  readStateFile,
  type Settings,
} from './settings.ts';
import { databaseOptions } from './storage-options.ts';

/** Grace of requests in flight when the process ends before its settings are read. */
const NO_GRACE_MS = 0;

/**
 * Serves the components, and resolves once the service is ready. Every failure ends the process. Rejects only with an error that
 * is not an SvcError.
 */
export async function serveFromEnvironment(options: EnvironmentOptions): Promise<Service> {
  const program = new DeployedProgram(openStatus(readStateFile(processInputs())));
  void stopRequest(process.env['SVC_PARENT_PID']).then((reason) => program.stop(reason));
  try {
    return await program.serve(options);
  } catch (error) {
    return program.fail(error);
  }
}

class DeployedProgram {
  readonly #status: ServiceStatus;
  #log: Log | undefined;
  #files: LogFiles | undefined;
  #service: EmbeddedService | undefined;
  #settings: Settings<SettingsSections> | undefined;
  #isEnding = false;

  constructor(status: ServiceStatus) {
    this.#status = status;
    status.enter('starting');
  }

  async serve(options: EnvironmentOptions): Promise<Service> {
    checkEnvironmentOptions(options);
    const settings = readSettings(inputsOf(options), SECTION_DEFAULTS, SECTION_RANGES);
    this.#settings = settings;
    const { name, logFormat, logFolder: folder, sections } = settings;
    const { log, files } = openServiceLog(name, logFormat, {
      folder,
      limits: sections['log.files'],
    });
    this.#log = log;
    this.#files = files;
    checkSections(sections);
    const service = this.#makeService(serviceOptions(options, settings, log), settings, log);
    this.#service = service;
    await service.start();
    announce(settings, log, { url: service.url, descriptor: service.descriptor });
    void service.failure.then((failure) => this.fail(failure));
    return service;
  }

  /** Ends the process in order. */
  async stop(reason: string): Promise<never> {
    this.#log?.({ level: 'info', message: 'stopping', fields: { reason } });
    return this.#end(this.#settings?.sections.supervisor.stopGraceMs ?? NO_GRACE_MS);
  }

  /** Ends the process because of the error. Rejects with it if it is not an SvcError. */
  fail(error: unknown): Promise<never> {
    return this.#end(NO_GRACE_MS, error);
  }

  async #end(graceMs: number, error?: unknown): Promise<never> {
    // The first reason ends the process.
    if (this.#isEnding) return new Promise<never>(() => {});
    this.#isEnding = true;
    this.#status.enter('stopping');
    const marginMs = this.#settings?.sections.supervisor.stopMarginMs ?? NO_GRACE_MS;
    if (this.#service !== undefined) await stopped(this.#service, graceMs, marginMs);
    if (error === undefined) {
      this.#log?.({ level: 'info', message: 'stopped' });
      this.#status.end({ code: EXIT_OK, signal: null });
    } else this.#status.end(exitOf(error));
    const code = error === undefined ? EXIT_OK : reportFailure(error, this.#log);
    await this.#files?.close();
    process.exit(code);
  }

  #makeService(
    options: ServiceOptions,
    settings: Settings<SettingsSections>,
    log: Log,
  ): EmbeddedService {
    checkOptions(options);
    const { sections } = settings;
    const storage = new EmbeddedStorage(options, sections);
    const guest = createEmbeddedGuest(options, options.responses);
    const fingerprint = programFingerprint(guest);
    const deployment = new EmbeddedDeployment({
      settings,
      status: this.#status,
      log,
      program: { fingerprint, descriptor: guest.descriptor },
      series: storage.series,
      onLate: (error) => void this.fail(error),
    });
    const introspection = {
      ...introspectionSettings(options, sections, true),
      management: settings.management,
      otlp: settings.otlp,
      names: INTROSPECTION_SETTING_NAMES,
    };
    const parts = { sections, guest, storage, fingerprint, introspection, deployment };
    return new EmbeddedService(options, parts);
  }
}

/** Stops the service. A service that does not stop within grace and margin is left to the end of the process. */
async function stopped(service: Service, graceMs: number, marginMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, graceMs + marginMs);
  // An error of the stop would hide the error that caused it.
  await Promise.race([service.stop(graceMs).catch(() => {}), promise]);
  clearTimeout(timer);
}

function serviceOptions(
  { name: _name, deployed: _deployed, settings: _settings, ...options }: EnvironmentOptions,
  settings: Settings<SettingsSections>,
  log: Log,
): ServiceOptions {
  const { name, dataFolder, database, ignoreComponents, http, host, port, management } = settings;
  const { file, folder } = settings.configuration;
  return {
    ...options,
    name,
    deployed: true,
    ...(database === undefined ? { dataFolder } : { database: databaseOptions(database) }),
    ignoreComponents,
    http: http && { host, port },
    management,
    configured: { file, folder },
    settingNames: {
      http: { host: 'svc.http.host', port: 'svc.http.port' },
      management: { host: 'svc.management.host', port: 'svc.management.port' },
    },
    log,
  };
}

/** Returns the inputs of the process. Its arguments are the program's own, except for `--standby`. */
function processInputs(): HostInputs {
  const args = process.argv.includes('--standby') ? ['--standby'] : [];
  return { args, env: { ...process.env, SVC_DEPLOYED: 'true' }, stderrIsTerminal: false };
}

/** Returns the inputs with the values that the program has for settings that the environment does not have. */
function inputsOf({ name, settings = {} }: EnvironmentOptions): HostInputs {
  readServiceSettings(settings);
  const inputs = processInputs();
  const own = Object.entries(settings).map(([dotted, value]) => [
    variableName(dotted),
    Array.isArray(value) ? value.join(',') || 'none' : String(value),
  ]);
  return {
    ...inputs,
    sockets: takeListeningSockets(process.env, [process.pid, process.ppid]),
    env: { SVC_NAME: name, ...(Object.fromEntries(own) as Record<string, string>), ...inputs.env },
  };
}
