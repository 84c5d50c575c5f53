// BaseDomain: the domain of the hostnames that an installation derives, `https://<service>-<project>.<base domain>`. It may have a
// port, which is then part of every derived address.
import { invalidSetting, type SettingsReader } from './settings-reader.ts';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A hostname has at most 253 characters, and the derived label with its dot takes up to 64 of them. */
const LENGTH_MAX = 253 - 64;
/** The port that addresses with https have anyway. */
const HTTPS_PORT = 443;

/** Reads a base domain; undefined: the installation has none. Throws SVC_SETTING_INVALID. */
export function readBaseDomain(reader: SettingsReader, dotted: string): string | undefined {
  const text = reader.text(dotted);
  if (text !== undefined && !isBaseDomain(text))
    throw invalidSetting(dotted, text, 'a domain in lower case, with a port if it is not 443');
  return text;
}

function isBaseDomain(text: string): boolean {
  const [, domain = '', port] = /^([^:]*)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const labels = domain.split('.');
  if (domain.length > LENGTH_MAX || !labels.every((label) => LABEL.test(label))) return false;
  // A name whose last part is a number is read as an IPv4 address, which has no names below it.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return false;
  return port === undefined || (Number(port) <= 65_535 && Number(port) !== HTTPS_PORT);
}
