// OtlpSettings: the settings svc.observability.otlp-*, which say where spans are exported to.
import { invalidSetting, type SettingsReader } from './settings-reader.ts';

export interface OtlpTarget {
  readonly url: string;
  /** They may be secrets, and are never shown. */
  readonly headers: Readonly<Record<string, string>>;
}

const ENDPOINT = 'svc.observability.otlp-endpoint';
const HEADERS = 'svc.observability.otlp-headers';
export const OTLP_NAMES: readonly string[] = [ENDPOINT, HEADERS];
/** Path for traces at a receiver of OTLP over HTTP, if its address has no path of its own. */
const TRACES_PATH = '/v1/traces';

/** Reads the receiver of spans; undefined if spans are not exported. Throws SVC_SETTING_INVALID. */
export function readOtlpTarget(reader: SettingsReader): OtlpTarget | undefined {
  const endpoint = reader.text(ENDPOINT);
  const headers = reader.text(HEADERS);
  if (endpoint === undefined) return undefined;
  const url = otlpUrl(endpoint);
  if (url === undefined) throw invalidSetting(ENDPOINT, endpoint, 'an address of HTTP or HTTPS');
  const pairs = (headers?.split(',') ?? []).map((header) => {
    const [name = '', ...value] = header.split('=');
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name.trim()) || value.length === 0)
      // The value may be a secret, so the message does not contain it.
      throw invalidSetting(HEADERS, '…', 'NAME=VALUE, with commas between');
    return [name.trim(), value.join('=').trim()] as const;
  });
  return { url, headers: Object.fromEntries(pairs) };
}

/**
 * Returns the URL that spans are sent to: an endpoint without a path gets the path of OTLP. Undefined: the endpoint is
 * not an HTTP or HTTPS URL.
 */
export function otlpUrl(endpoint: string): string | undefined {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return url.href;
}
