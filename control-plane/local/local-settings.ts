// LocalSettings: reads the settings svc.local.*. @svc/kit/settings-reader defines how they are given.
import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { invalidSetting, sectionNames, type SettingsReader } from '@svc/kit/settings-reader';
import {
  readRegistrySettings,
  REGISTRY_SETTING_NAMES,
  type RegistrySettings,
} from './registry-settings.ts';
import { LOCAL_DEFAULTS, LOCAL_RANGES, type LocalSection } from './local-section.ts';

const SECTIONS = { local: { ...LOCAL_DEFAULTS } };
const FOLDER = 'svc.local.folder';
const NETWORK = 'svc.local.network';
const IMAGE_FOLDERS = 'svc.local.image-folders';
const NETWORK_DEFAULT = '127.83';
const FOLDER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** The dotted names of these settings. */
export const LOCAL_SETTING_NAMES: readonly string[] = [
  ...sectionNames(SECTIONS),
  FOLDER,
  NETWORK,
  IMAGE_FOLDERS,
  ...REGISTRY_SETTING_NAMES,
];

export interface LocalSettings {
  /** Absolute path of the folder of everything that runs. */
  readonly folder: string;
  /** First two numbers of the addresses of instances. */
  readonly network: string;
  /** Name, as in `oci:NAME/LAYOUT:TAG`, and absolute path of each folder in which images may be. */
  readonly imageFolders: ReadonlyMap<string, string>;
  readonly registries: RegistrySettings;
  readonly section: LocalSection;
}

/** Returns undefined if this machine is to run no services. Throws SVC_SETTING_INVALID. */
export function readLocalSettings(reader: SettingsReader): LocalSettings | undefined {
  const section = reader.sections(SECTIONS, { local: LOCAL_RANGES }).local;
  if (section.restartPauseMaxMs < section.restartPauseMs)
    throw invalidSetting(
      'svc.local.restart-pause-max-ms',
      String(section.restartPauseMaxMs),
      `at least svc.local.restart-pause-ms, which is ${section.restartPauseMs}`,
    );
  const folder = reader.text(FOLDER);
  const network = networkOf(reader.text(NETWORK) ?? NETWORK_DEFAULT);
  const imageFolders = imageFoldersOf(reader.text(IMAGE_FOLDERS));
  const registries = readRegistrySettings(reader);
  if (folder === undefined) return undefined;
  return { folder: resolve(folder), network, imageFolders, registries, section };
}

function networkOf(text: string): string {
  const isNetwork = /^127\.\d+$/.test(text) && isIPv4(`${text}.0.1`) && text !== '127.0';
  if (!isNetwork)
    throw invalidSetting(NETWORK, text, 'two numbers of loopback addresses, 127.1 to 127.255');
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
