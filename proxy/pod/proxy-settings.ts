// ProxySettings: the flags and settings of `svc proxy` (@svc/kit/settings-reader defines how they are given). No other file of
// the proxy reads flags or settings. docs/reference/settings.md lists all of them.
import {
  descriptorProblems,
  problemLine,
  type Mount,
  type Problem,
  WEB_PROTOCOL,
} from '@svc/client';
import {
  IDENTITY_NAMES,
  type IdentitySettings,
  readIdentity,
} from '@svc/identity/identity-settings';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { readBaseDomain } from '@svc/kit/base-domain';
import { readSocketsFolder } from '@svc/kit/call-sockets';
import { dottedName } from '@svc/kit/setting-name';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ProgramInputs,
  readLogFormat,
  readPath,
  readProgramFlags,
  readStateFile,
  STATE_FILE,
} from '@svc/kit/program-flags';
import { LOG_FILES_DEFAULT, LOG_FILES_RANGE, type LogFilesLimits } from '@svc/kit/log-files-limits';
import { LOG_LIMITS_DEFAULT, LOG_LIMITS_RANGE, type LogLimits } from '@svc/kit/log-limits';
import { Resolver } from 'node:dns';
import { PROXY_DEFAULTS, PROXY_RANGES, type ProxySection } from './proxy-section.ts';

export interface ProxySettings {
  /** Name of the service beside which the proxy runs. */
  readonly service: string;
  readonly identity: IdentitySettings;
  /** Address of the service port and of the readiness port. */
  readonly host: string;
  readonly mounts: readonly Mount[];
  /** Domain of derived hostnames; undefined: the installation has none. */
  readonly baseDomain: string | undefined;
  /** Absolute path of the file in which services are found; undefined: they are found by DNS. */
  readonly servicesFile: string | undefined;
  /** Absolute path of the folder with the sockets of called services; undefined: they are called at their addresses. */
  readonly socketsFolder: string | undefined;
  /** Absolute path of the file with the command of the process (process-file.ts); undefined: somebody else runs the process. */
  readonly processFile: string | undefined;
  readonly logFormat: 'text' | 'json';
  readonly log: LogLimits;
  /** Absolute path of the folder of the log files; undefined: the log goes to stderr. */
  readonly logFolder: string | undefined;
  readonly logFiles: LogFilesLimits;
  readonly section: ProxySection;
}

const FLAGS = {
  name: { type: 'string', dotted: 'svc.name' },
  project: { type: 'string', dotted: 'svc.project' },
  port: { type: 'string', dotted: 'svc.proxy.port' },
  'process-port': { type: 'string', dotted: 'svc.proxy.process-port' },
  log: { type: 'string', dotted: 'svc.log' },
} as const;
/** The options of `svc proxy`. */
export const PROXY_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const PLAIN_NAMES: readonly string[] = [
  ...IDENTITY_NAMES,
  'svc.name',
  'svc.log',
  'svc.proxy.host',
  'svc.proxy.base-domain',
  'svc.proxy.services-file',
  'svc.proxy.sockets-folder',
  'svc.proxy.process-file',
  'svc.log.files.dir',
  STATE_FILE,
];

export const PROXY_SECTIONS = {
  proxy: { ...PROXY_DEFAULTS },
  log: { ...LOG_LIMITS_DEFAULT },
  'log.files': { ...LOG_FILES_DEFAULT },
};
export const PROXY_SECTION_RANGES: SectionRanges<typeof PROXY_SECTIONS> = {
  proxy: PROXY_RANGES,
  log: LOG_LIMITS_RANGE,
  'log.files': LOG_FILES_RANGE,
};

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readProxySettings({ args, env, stderrIsTerminal }: ProgramInputs): ProxySettings {
  const reader = new SettingsReader(readProgramFlags('proxy', args, FLAGS).given, env);
  reader.checkNames(new Set([...PLAIN_NAMES, ...sectionNames(PROXY_SECTIONS)]));
  const sections = reader.sections(PROXY_SECTIONS, PROXY_SECTION_RANGES);
  const baseDomain = readBaseDomain(reader, 'svc.proxy.base-domain');
  const logFolder = readPath(reader, 'svc.log.files.dir');
  // `proxyStateFile` has read it, and has not reported an empty path.
  reader.text(STATE_FILE);
  const mounts = sections.proxy.mounts.map(mountOf);
  const { service, identity } = whoOf(reader);
  checkDescriptor(service, mounts, sections.proxy);
  checkNameServers(sections.proxy.nameServers);
  return {
    service,
    identity,
    host: reader.text('svc.proxy.host') ?? '0.0.0.0',
    mounts,
    baseDomain,
    servicesFile: readPath(reader, 'svc.proxy.services-file'),
    socketsFolder: readSocketsFolder(reader, 'svc.proxy.sockets-folder'),
    processFile: readPath(reader, 'svc.proxy.process-file'),
    logFormat: readLogFormat(reader, stderrIsTerminal && logFolder === undefined),
    log: sections.log,
    logFolder,
    logFiles: sections['log.files'],
    section: sections.proxy,
  };
}

/** Returns the path of the state file, which is to say that the other settings are invalid; undefined: there is none. */
export function proxyStateFile(inputs: Pick<ProgramInputs, 'args' | 'env'>): string | undefined {
  return readStateFile(inputs, 'proxy', FLAGS);
}

/** Reads the name of the service and its identity. Throws SVC_SETTING_INVALID if one is missing. */
function whoOf(reader: SettingsReader): Pick<ProxySettings, 'service' | 'identity'> {
  const service = reader.text('svc.name');
  const identity = service === undefined ? undefined : readIdentity(reader, service);
  if (service !== undefined && identity !== undefined) return { service, identity };
  const missing = [...(service === undefined ? ['svc.name'] : []), ...IDENTITY_NAMES];
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The proxy needs the settings ${missing.join(', ')}: by its certificate it proves who it is, and it admits nobody without one. docs/reference/identity.md explains them.`,
  );
}

/** Parses `PATH=SERVICE`. A path may contain `=`, and a service's name may not. */
function mountOf(text: string): Mount {
  const equals = text.lastIndexOf('=');
  if (equals === -1)
    throw invalidSetting(
      'svc.proxy.mounts',
      text,
      'mounts such as /cart=cart, with commas between',
    );
  return { path: text.slice(0, equals).replaceAll(/%2c/gi, ','), service: text.slice(equals + 1) };
}

/** Applies the rules of a descriptor to the settings that are parts of one. */
function checkDescriptor(
  name: string,
  mounts: readonly Mount[],
  { port, processPort, readinessPort, callingPort, callers, hostnames }: ProxySection,
): void {
  const problems = descriptorProblems({
    name,
    image: 'image',
    hosting: 'process',
    protocol: WEB_PROTOCOL,
    ...(port === 0 ? {} : { port }),
    processPort,
    mounts,
    callers,
    hostnames,
  });
  const lines = [
    ...problems.map(settingOf),
    ...sharedPorts({ port, processPort, readinessPort, callingPort }),
  ];
  if (lines.length > 0) throw unusable(lines.join('; '));
}

/** Reports the ports beside those of the descriptor that are the same as another one. 0 is a free one. */
function sharedPorts(
  ports: Pick<ProxySection, 'port' | 'processPort' | 'readinessPort' | 'callingPort'>,
): readonly string[] {
  const all = Object.entries(ports).filter(([, port]) => port !== 0);
  return all.flatMap(([key, port], index) => {
    const earlier = all.slice(0, index).find(([, other]) => other === port);
    if (earlier === undefined || key === 'processPort') return [];
    return `${dottedName('proxy', earlier[0])} and ${dottedName('proxy', key)} are both ${port}`;
  });
}

/** Words a problem of the descriptor with the name of the setting: `svc.proxy.mounts/0/path is empty`. */
function settingOf(problem: Problem): string {
  const [field = '', ...rest] = problemLine(problem).split(/(?=[/ ])/);
  const dotted = field === 'name' ? 'svc.name' : dottedName('proxy', field);
  return [dotted, ...rest].join('');
}

function checkNameServers(servers: readonly string[]): void {
  try {
    new Resolver().setServers(servers);
  } catch {
    throw invalidSetting(
      'svc.proxy.name-servers',
      servers.join(','),
      'addresses such as 10.0.0.10, with a port if it is not 53, and commas between',
    );
  }
}

function unusable(lines: string): SvcError {
  return new SvcError('SVC_SETTING_INVALID', `The settings of the proxy cannot be used: ${lines}.`);
}
