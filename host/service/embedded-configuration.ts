// EmbeddedConfiguration: the configuration of a service in a program, from the files and values that its options name. The values have
// to fit the schema of the program too, which may have rules that a descriptor does not express.
import type { Guest } from '@svc/model/guest';
import { CodecProblem } from '@svc/components/codec';
import type { ConfigurationDefinition } from '@svc/components/configuration-definition';
import type { Log } from '@svc/kit/log';
import type { Phase } from '@svc/kit/phases';
import { embeddedLog } from './embedded-log.ts';
import type { ServiceOptions } from './embedded-options.ts';
import { logWithoutSecrets } from './log-without-secrets.ts';
import { ServiceConfiguration } from './service-configuration.ts';

const REMEDY =
  "Give the values with the option configured, or with deployed: 'environment' by the settings " +
  'svc.configuration.file and svc.configuration.folder.';

export class EmbeddedConfiguration extends ServiceConfiguration {
  /** The log of the service, whose lines have no secrets. */
  readonly log: Log;

  constructor(options: ServiceOptions) {
    const { configuration, configured = {} } = options;
    const { file, folder, values = {} } = configured;
    const log = embeddedLog(options);
    super({
      sources: { file, folder, assignments: [], values },
      log,
      onChange: () => {},
      judge: configuration && ((json) => problemOf(configuration, json)),
      remedy: REMEDY,
    });
    this.log = logWithoutSecrets(log, () => this.current);
  }

  /**
   * Returns the phase that reads the values, and watches their files if the service has any values. Its start rejects with
   * SVC_CONFIGURATION_UNREADABLE and SVC_CONFIGURATION_INVALID.
   */
  phase(guest: Pick<Guest, 'descriptor'>): Phase {
    return {
      start: async () => {
        await this.prepare(guest);
        if (guest.descriptor.configuration !== undefined) this.watch();
      },
      stop: () => this.close(),
    };
  }
}

function problemOf({ codec }: ConfigurationDefinition, json: string): string | undefined {
  try {
    codec.decode(json, 'the configuration');
    return undefined;
  } catch (error) {
    if (error instanceof CodecProblem) return error.message;
    throw error;
  }
}
