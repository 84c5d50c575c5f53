// ApiListener: the settings of where a program serves an API whose requests have access tokens: they leave the machine with TLS only.
import { resolve } from 'node:path';
import { isLoopbackHost } from './loopback-host.ts';
import type { SettingsReader } from './settings-reader.ts';
import { SvcError } from './svc-error.ts';

/** Absolute paths of the files of TLS, in PEM. */
export interface TlsFiles {
  /** The certificate, and the intermediate ones after it. */
  readonly certificate: string;
  readonly key: string;
}

export interface ApiListener {
  readonly host: string;
  /** Undefined: the API is served without TLS, on a loopback address. */
  readonly tls: TlsFiles | undefined;
}

/** Returns the dotted names of the settings of a program, such as `svc.control-plane`. */
export function apiListenerNames(program: string) {
  return {
    host: `${program}.host`,
    certificate: `${program}.tls-certificate`,
    key: `${program}.tls-key`,
  };
}

/** Throws SVC_SETTING_INVALID. */
export function readApiListener(reader: SettingsReader, program: string): ApiListener {
  const names = apiListenerNames(program);
  const host = reader.text(names.host) ?? '127.0.0.1';
  const certificate = reader.text(names.certificate);
  const key = reader.text(names.key);
  if (certificate !== undefined && key !== undefined)
    return { host, tls: { certificate: resolve(certificate), key: resolve(key) } };
  if (certificate !== undefined || key !== undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The settings ${names.certificate} and ${names.key} belong together, and only one of them is given.`,
    );
  if (isLoopbackHost(host)) return { host, tls: undefined };
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The address ${host} of the setting ${names.host} is reached from other machines, to which access tokens ` +
      `must not travel without TLS: give ${names.certificate} and ${names.key}, or listen on 127.0.0.1 behind a gateway.`,
  );
}
