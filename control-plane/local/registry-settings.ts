// RegistrySettings: reads the settings svc.local.* about registries of images. The files that they name are read when an image is.
import { resolve } from 'node:path';
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';

const CREDENTIALS = 'svc.local.registry-credentials';
const AUTHORITY = 'svc.local.registry-authority';
const PRIVATE = 'svc.local.private-registries';
const PLATFORM = 'svc.local.platform-registry';
const PLATFORM_TOKEN = 'svc.local.platform-registry-token';
const PRIVATE_MAX = 100;

/** The dotted names of these settings. */
export const REGISTRY_SETTING_NAMES: readonly string[] = [
  CREDENTIALS,
  AUTHORITY,
  PRIVATE,
  PLATFORM,
  PLATFORM_TOKEN,
];

export interface RegistrySettings {
  /** Absolute path of a `config.json` of Docker. */
  readonly credentialsFile: string | undefined;
  /** Absolute path of the certificates of an authority that registries may have, as PEM. */
  readonly authorityFile: string | undefined;
  /** Hosts, in the form of hostOfRegistry, that may be on this machine or in a private network. */
  readonly privateHosts: ReadonlySet<string>;
  /** The installation's own registry, in which a project's images are for that project alone. */
  readonly platform: PlatformRegistry | undefined;
}

export interface PlatformRegistry {
  /** In the form of hostOfRegistry. */
  readonly host: string;
  /** Absolute path of the file with the token by which this machine pulls. */
  readonly tokenFile: string;
}

/** Throws SVC_SETTING_INVALID. */
export function readRegistrySettings(reader: SettingsReader): RegistrySettings {
  const [platform, tokenFile] = [reader.text(PLATFORM), reader.text(PLATFORM_TOKEN)];
  if ((platform === undefined) !== (tokenFile === undefined))
    throw invalidSetting(
      platform === undefined ? PLATFORM : PLATFORM_TOKEN,
      '',
      `a value, because ${PLATFORM} and ${PLATFORM_TOKEN} belong together`,
    );
  const privateHosts = reader
    .list(PRIVATE, [], [0, PRIVATE_MAX])
    .map((host) => hostIn(PRIVATE, host));
  return {
    credentialsFile: pathIn(reader, CREDENTIALS),
    authorityFile: pathIn(reader, AUTHORITY),
    privateHosts: new Set(privateHosts),
    platform:
      platform === undefined || tokenFile === undefined
        ? undefined
        : { host: hostIn(PLATFORM, platform), tokenFile: resolve(tokenFile) },
  };
}

/** Returns the host of a registry in the one form in which hosts are compared; undefined for a text that is none. */
export function hostOfRegistry(text: string): string | undefined {
  const url = URL.parse(`https://${text}`);
  const isHost = url !== null && url.href === `https://${url.host}/` && url.username === '';
  return isHost ? url.host : undefined;
}

function hostIn(dotted: string, text: string): string {
  const host = hostOfRegistry(text);
  if (host === undefined)
    throw invalidSetting(dotted, text, 'a host such as registry.example.com or 127.0.0.1:5000');
  return host;
}

function pathIn(reader: SettingsReader, dotted: string): string | undefined {
  const path = reader.text(dotted);
  return path === undefined ? undefined : resolve(path);
}
