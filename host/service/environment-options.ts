// EnvironmentOptions: the options of createService for a deployed program, whose settings come from the environment.
import type { Components } from '@svc/components/components';
import type { Metric } from '../introspection/program-metrics.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { ResponsesOptions } from './embedded-responses.ts';
import type { ServiceSettings } from './embedded-settings.ts';

/**
 * The options of `createService` for a deployed program: addresses, data folder, identity, log, limits and standby come from
 * the settings that `svc run` reads from the environment.
 */
export interface EnvironmentOptions extends Components {
  /** Name of the service, unless `svc.name` has another. */
  readonly name: string;
  readonly deployed: 'environment';
  /** Values of settings that the environment does not have. */
  readonly settings?: ServiceSettings;
  readonly responses?: ResponsesOptions;
  /** Metrics of the program itself, which are among those of the service. */
  readonly metrics?: readonly Metric[];
}

const NAMES: ReadonlySet<string> = new Set([
  'name',
  'deployed',
  'settings',
  'responses',
  'metrics',
  'entities',
  'endpoints',
  'views',
  'consumers',
  'schedules',
  'configuration',
  'version',
]);

/** Throws SVC_SETTING_INVALID for an option of which the environment decides. */
export function checkEnvironmentOptions(options: EnvironmentOptions): void {
  const other = Object.entries(options).find(
    ([name, value]) => value !== undefined && !NAMES.has(name),
  );
  if (other === undefined) return;
  if (other[0] === 'testing')
    throw new SvcError(
      'SVC_SETTING_INVALID',
      "The option testing is for tests, and a service with deployed: 'environment' is none: leave it out.",
    );
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The option ${other[0]} is not for a service with deployed: 'environment': leave it out, and set the environment ` +
      'variable instead. docs/reference/settings.md lists them.',
  );
}
