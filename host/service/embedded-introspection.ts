// EmbeddedIntrospection reads the introspection settings from the options of an embedded service: its management
// server, its endpoint on a developer's machine, and the receiver of its spans. Messages name the options of the
// program.
import { isFieldName, isFieldValue } from '@svc/kit/header-grammar';
import { otlpUrl } from '@svc/kit/otlp-settings';
import { SvcError } from '@svc/kit/svc-error';
import type { IntrospectionSettings } from '../introspection/service-view.ts';
import {
  addressNames,
  addressOf,
  DEFAULT_PORT,
  hasHttp,
  type ServiceOptions,
} from './embedded-options.ts';
import type { EmbeddedSections } from './embedded-settings.ts';
import { MANAGEMENT_PORT, runningFolder } from './settings.ts';

/** Reads the settings. `isStored`: whether the journal is in a folder. Throws SVC_SETTING_INVALID. */
export function introspectionSettings(
  options: ServiceOptions,
  sections: EmbeddedSections,
  isStored: boolean,
): IntrospectionSettings {
  const { name, http, deployed = false, management, observability = {} } = options;
  const { local, runningFolder: folder } = observability;
  return {
    name,
    http: hasHttp(options),
    port: (http === false ? undefined : http?.port) ?? DEFAULT_PORT,
    management:
      management === undefined || management === false
        ? undefined
        : addressOf(management, deployed, MANAGEMENT_PORT),
    isLocal: local ?? (!deployed && isStored),
    tokens: { developmentKeyFile: undefined },
    runningFolder: runningFolder(folder),
    otlp: otlpReceiver(observability),
    names: {
      management: addressNames(options, 'management'),
      runningFolder: 'observability.runningFolder',
    },
    sections,
  };
}

function otlpReceiver({
  otlp,
}: NonNullable<ServiceOptions['observability']>): IntrospectionSettings['otlp'] {
  if (otlp === undefined) return undefined;
  const url = otlpUrl(otlp.endpoint);
  if (url === undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      'The option observability.otlp.endpoint takes an address of HTTP or HTTPS, such as http://127.0.0.1:4318, and ' +
        `found '${otlp.endpoint}'.`,
    );
  return { url, headers: receiverHeaders(otlp.headers ?? {}) };
}

function receiverHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers))
    if (!isFieldName(name) || typeof value !== 'string' || (value !== '' && !isFieldValue(value)))
      throw new SvcError(
        'SVC_SETTING_INVALID',
        'A header of the option observability.otlp.headers cannot be one: a name is a token, and a value is text on one ' +
          'line.',
      );
  return headers;
}
