// RegistrySettings: the flags and settings of `svc registry` (@svc/kit/settings-reader defines how they are given). No other file of
// the registry reads flags or settings.
import { join, resolve } from 'node:path';
import { isLoopbackHost } from '@svc/kit/loopback-host';
import { type ProgramInputs, readLogFormat, readProgramFlags } from '@svc/kit/program-flags';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { REGISTRY_DEFAULTS, REGISTRY_RANGES, type RegistrySection } from './registry-section.ts';

export interface RegistrySettings {
  /** Absolute path of the folder of all images. */
  readonly dataFolder: string;
  /** URL of the control plane, which says who may use a project. */
  readonly controlPlaneUrl: string;
  /** Absolute path of the file with the token by which the orchestrator pulls. */
  readonly pullTokenFile: string;
  /** A loopback address, or `localhost`. */
  readonly host: string;
  readonly logFormat: 'text' | 'json';
  readonly section: RegistrySection;
}

const FLAGS = {
  'control-plane': { type: 'string', dotted: 'svc.registry.control-plane-url' },
  port: { type: 'string', dotted: 'svc.registry.port' },
  host: { type: 'string', dotted: 'svc.registry.host' },
  data: { type: 'string', dotted: 'svc.data' },
  log: { type: 'string', dotted: 'svc.log' },
} as const;
/** The options of `svc registry`. */
export const REGISTRY_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const PULL_TOKEN_FILE = 'svc.registry.pull-token-file';
const PULL_TOKEN_NAME = 'pull-token';
const SECTIONS = { registry: { ...REGISTRY_DEFAULTS } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = { registry: REGISTRY_RANGES };
const NAMES: readonly string[] = [
  ...Object.values(FLAGS).map(({ dotted }) => dotted),
  ...sectionNames(SECTIONS),
  PULL_TOKEN_FILE,
];

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readRegistrySettings(inputs: ProgramInputs): RegistrySettings {
  const { given } = readProgramFlags('registry', inputs.args, FLAGS);
  const reader = new SettingsReader(given, inputs.env);
  reader.checkNames(new Set(NAMES));
  const dataFolder = resolve(reader.text('svc.data') ?? join('.svc', 'registry'));
  return {
    dataFolder,
    controlPlaneUrl: controlPlaneUrlOf(reader),
    pullTokenFile: resolve(reader.text(PULL_TOKEN_FILE) ?? join(dataFolder, PULL_TOKEN_NAME)),
    host: hostOf(reader),
    logFormat: readLogFormat(reader, inputs.stderrIsTerminal),
    section: reader.sections(SECTIONS, SECTION_RANGES).registry,
  };
}

/** Callers' tokens go there, so it is encrypted, or on this machine. */
function controlPlaneUrlOf(reader: SettingsReader): string {
  const { dotted } = FLAGS['control-plane'];
  const text = reader.text(dotted);
  if (text === undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The setting ${dotted} is missing: the URL of the control plane. docs/how-to/running-the-registry.md explains it.`,
    );
  const url = URL.parse(text);
  const isPlain =
    url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === null || !isPlain || !isSafe)
    throw invalidSetting(
      dotted,
      text,
      'a URL such as http://127.0.0.1:7640 (http only for loopback addresses)',
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** The gateway adds the encryption, so nobody else may reach the registry. */
function hostOf(reader: SettingsReader): string {
  const host = reader.text(FLAGS.host.dotted) ?? '127.0.0.1';
  if (isLoopbackHost(host)) return host;
  throw invalidSetting(
    FLAGS.host.dotted,
    host,
    'a loopback address such as 127.0.0.1, because tokens arrive without encryption: the gateway serves the registry to others',
  );
}
