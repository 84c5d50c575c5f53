// LocalSettings: reads the settings svc.local.* and svc.rollout.*. @svc/kit/settings-reader defines how they are given.
import { isIPv4 } from 'node:net';
import { isAbsolute, join, normalize, resolve } from 'node:path';
import { invalidSetting, sectionNames, type SettingsReader } from '@svc/kit/settings-reader';
import {
  readRegistrySettings,
  REGISTRY_SETTING_NAMES,
  type RegistrySettings,
} from './registry-settings.ts';
import { defaultNetwork, PORTS_NETWORK } from './instance-addresses.ts';
import { LOCAL_DEFAULTS, LOCAL_RANGES, type LocalSection } from './local-section.ts';
import {
  readServiceTokenSettings,
  serviceTokenSettingNames,
  type ServiceTokenSettings,
} from '../orchestration/service-tokens.ts';
import { ROLLOUT_DEFAULTS, ROLLOUT_RANGES, type RolloutSection } from './rollout-section.ts';

const SECTIONS = { local: { ...LOCAL_DEFAULTS }, rollout: { ...ROLLOUT_DEFAULTS } };
const RANGES = { local: LOCAL_RANGES, rollout: ROLLOUT_RANGES };
const FOLDER = 'svc.local.folder';
const NETWORK = 'svc.local.network';
const IMAGE_FOLDERS = 'svc.local.image-folders';
const ROUTES_SOCKET = 'svc.local.routes-socket';
const ROUTES_FILE = 'svc.local.routes-file';
/** Maximum length of the path of a socket, in bytes. It is the smallest of the systems that have such sockets. */
const SOCKET_BYTES_MAX = 103;
const NEW_AUTHORITY = 'svc.local.new-authority';
const SECRETS_FOLDER = 'svc.local.secrets-folder';
const POSTGRES_URL_FILE = 'svc.local.postgres-url-file';
const OUTBOUND = 'svc.local.outbound';
const CGROUP = 'svc.local.cgroup';
const PLAIN_INSTANCES = 'svc.local.plain-instances';
const FOLDER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** The dotted names of these settings. */
export const LOCAL_SETTING_NAMES: readonly string[] = [
  ...sectionNames(SECTIONS),
  FOLDER,
  NETWORK,
  IMAGE_FOLDERS,
  SECRETS_FOLDER,
  POSTGRES_URL_FILE,
  ...serviceTokenSettingNames('svc.local'),
  NEW_AUTHORITY,
  PLAIN_INSTANCES,
  OUTBOUND,
  CGROUP,
  ...REGISTRY_SETTING_NAMES,
  ROUTES_SOCKET,
  ROUTES_FILE,
];

export interface LocalSettings {
  /** Absolute path of the folder of everything that runs. */
  readonly folder: string;
  /** First two numbers of the addresses of instances, or `ports`. */
  readonly network: string;
  /** Name, as in `oci:NAME/LAYOUT:TAG`, and absolute path of each folder in which images may be. */
  readonly imageFolders: ReadonlyMap<string, string>;
  readonly registries: RegistrySettings;
  /** Absolute path of the folder with a folder of secrets for each project. */
  readonly secretsFolder: string;
  /** Absolute path of the file with the URL of a server on which services get databases; undefined: they get none. */
  readonly postgresUrlFile: string | undefined;
  readonly serviceTokens: ServiceTokenSettings;
  /** True: the authorities are replaced by others at this start. */
  readonly newAuthority: boolean;
  /** True: instances have no identity and listen without TLS, for development. */
  readonly plainInstances: boolean;
  /** True: programs of images may connect to other machines. */
  readonly outbound: boolean;
  /** Absolute path of the control group below which instances have theirs; undefined: they have none. */
  readonly cgroup: string | undefined;
  /** Absolute path of the socket at which routers get the routes. */
  readonly routesSocket: string;
  /** Absolute path of the file with the routes. */
  readonly routesFile: string;
  readonly section: LocalSection;
  readonly rollout: RolloutSection;
}

/**
 * Returns undefined if this machine is to run no services. `clientId`: the client with which users log in. Throws
 * SVC_SETTING_INVALID.
 */
export function readLocalSettings(
  reader: SettingsReader,
  clientId: string,
): LocalSettings | undefined {
  const { local: section, rollout } = reader.sections(SECTIONS, RANGES);
  if (section.restartPauseMaxMs < section.restartPauseMs)
    throw invalidSetting(
      'svc.local.restart-pause-max-ms',
      String(section.restartPauseMaxMs),
      `at least svc.local.restart-pause-ms, which is ${section.restartPauseMs}`,
    );
  const folderText = reader.text(FOLDER);
  const network = networkOf(reader.text(NETWORK) ?? defaultNetwork(process.platform));
  const imageFolders = imageFoldersOf(reader.text(IMAGE_FOLDERS));
  const registries = readRegistrySettings(reader);
  const newAuthority = reader.boolean(NEW_AUTHORITY, false);
  const plainInstances = reader.boolean(PLAIN_INSTANCES, false);
  const outbound = reader.boolean(OUTBOUND, true);
  const cgroup = cgroupOf(reader.text(CGROUP));
  const secretsText = reader.text(SECRETS_FOLDER);
  const postgresText = reader.text(POSTGRES_URL_FILE);
  const serviceTokens = readServiceTokenSettings(reader, 'svc.local', clientId);
  const [socketText, fileText] = [reader.text(ROUTES_SOCKET), reader.text(ROUTES_FILE)];
  if (folderText === undefined) return undefined;
  const folder = resolve(folderText);
  return {
    folder,
    network,
    imageFolders,
    registries,
    secretsFolder: resolve(secretsText ?? join(folder, 'secrets')),
    postgresUrlFile: postgresText === undefined ? undefined : resolve(postgresText),
    serviceTokens,
    newAuthority,
    plainInstances,
    outbound,
    cgroup,
    routesSocket: socketOf(socketText ?? join(folder, 'routes.sock')),
    routesFile: resolve(fileText ?? join(folder, 'routes.json')),
    section,
    rollout,
  };
}

function socketOf(text: string): string {
  const path = resolve(text);
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_BYTES_MAX)
    throw invalidSetting(
      ROUTES_SOCKET,
      path,
      `a path of at most ${SOCKET_BYTES_MAX} bytes, which a socket can have; this one has ${bytes}, so give a shorter one`,
    );
  return path;
}

function cgroupOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isAbsolute(text))
    throw invalidSetting(
      CGROUP,
      text,
      'the absolute path of a control group, such as /sys/fs/cgroup/platform.slice/svc-instances.service',
    );
  return normalize(text);
}

function networkOf(text: string): string {
  if (text === PORTS_NETWORK) return text;
  const isNetwork = /^127\.\d+$/.test(text) && isIPv4(`${text}.0.1`) && text !== '127.0';
  if (!isNetwork)
    throw invalidSetting(
      NETWORK,
      text,
      'two numbers of loopback addresses, 127.1 to 127.255, or ports',
    );
  return text;
}

function imageFoldersOf(text: string | undefined): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  for (const entry of text?.split(',') ?? []) {
    const [name = '', ...rest] = entry.trim().split('=');
    const path = rest.join('=');
    if (!FOLDER_NAME.test(name) || path === '' || folders.has(name))
      throw invalidSetting(
        IMAGE_FOLDERS,
        entry,
        'NAME=FOLDER, separated by commas, with other names each',
      );
    folders.set(name, resolve(path));
  }
  return folders;
}
