// Settings: the flags and settings of `svc run` (@svc/kit/settings-reader defines how they are given). No other file of
// the host reads flags, or settings from the environment. docs/reference/settings.md lists all of them.
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  IDENTITY_NAMES,
  type IdentitySettings,
  readIdentity,
} from '@svc/identity/identity-settings';
import { readSocketsFolder } from '@svc/kit/call-sockets';
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import { OTLP_NAMES, type OtlpTarget, readOtlpTarget } from '@svc/kit/otlp-settings';
import {
  type ProgramInputs,
  readLogFormat,
  readPath,
  readProgramFlags,
  readStateFile as readProgramStateFile,
  STATE_FILE,
} from '@svc/kit/program-flags';
import { DATABASE_NAMES, readDatabaseUrlSource } from '@svc/kit/database-settings';
import {
  invalidSetting,
  type SectionDefaults,
  sectionNames,
  type SectionRanges,
  type SectionValues,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseSource } from '../storage/journal-location.ts';
import { databaseSource } from './storage-options.ts';
import type { ConfigurationSources } from '../configuration/configuration-values.ts';
import { developmentKeyFile } from '@svc/kit/development-key-file';
import {
  type AcceptedIssuer,
  BEARER_SETTING_NAMES,
  readAcceptedIssuers,
} from '@svc/tokens/accepted-issuers';
import { type GivenSockets, givenSockets } from './given-sockets.ts';
import { isOwnName, OWN_NAME_WORDS } from './own-name.ts';
import { readRemoting, REMOTING_NAMES, type RemotingSettings } from './remoting-settings.ts';
import { CODE_NAMES, nameOfCode, readServiceCode, type ServiceCode } from './service-code.ts';
import type { CalledNetwork } from '../shards/shard-messages.ts';
import type { IntrospectionNames } from '../introspection/service-view.ts';

/** Default path of a deployed instance's journal. */
const DEPLOYED_DATA = '/data';

export interface Settings<Sections extends Readonly<Record<string, SectionDefaults>>> {
  /**
   * False for a run on a developer's machine. If true, there is no local introspection, and all callers count as the
   * internet unless `identity` is set.
   */
  readonly deployed: boolean;
  readonly code: ServiceCode;
  /** Name of the service: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Absolute path of the data folder, which holds the journal unless that is in a database. */
  readonly dataFolder: string;
  /** Where the URL of the database is that holds the journal; undefined: the data folder holds it. */
  readonly database: DatabaseSource | undefined;
  /** Where the instance takes calls of others that share its database. */
  readonly remoting: RemotingSettings;
  readonly host: string;
  /** Port, 0 to 65535; 0 takes a free one. */
  readonly port: number;
  readonly logFormat: 'text' | 'json';
  /** Whether the service has an HTTP server for its routes. */
  readonly http: boolean;
  /** Undefined: the service listens without TLS. */
  readonly identity: IdentitySettings | undefined;
  /** Address of the management server of a deployed instance. */
  readonly management: { readonly host: string; readonly port: number; readonly fd?: number };
  /** Sockets that a deployed instance is given. */
  readonly sockets: GivenSockets;
  /** Absolute path of the folder in which a local service registers; undefined if there is no home folder. */
  readonly runningFolder: string | undefined;
  /** The issuers whose access tokens count. */
  readonly tokens: TokenSources;
  /** How the service finds others that it calls. */
  readonly network: CalledNetwork;
  /** Receiver of spans; undefined if spans are not exported. */
  readonly otlp: OtlpTarget | undefined;
  /** Number of shards. */
  readonly shards: number;
  /** Components that the module has dropped on purpose: their events in the journal are ignored. */
  readonly ignoreComponents: readonly string[];
  /** Whether the service waits until no other process uses the data folder. */
  readonly standby: boolean;
  /** Absolute path of the module that uses the data folder now, for the check of an upgrade; undefined if it is not known. */
  readonly upgradeFrom: string | undefined;
  /** Absolute path of the folder of the log files; undefined: the log goes to stderr. */
  readonly logFolder: string | undefined;
  /** Where the values of the module's configuration are. */
  readonly configuration: ConfigurationSources;
  /** Settings of each section. */
  readonly sections: SectionValues<Sections>;
}

/** Where access tokens come from that count. */
export interface TokenSources {
  readonly issuers: readonly AcceptedIssuer[];
  /** Absolute path of the socket at which the keys of the issuers are read; undefined: they are read at the URLs of the issuers. */
  readonly keysSocket: string | undefined;
  /** Absolute path of the file with the key of development tokens; undefined: they do not count. */
  readonly developmentKeyFile: string | undefined;
}

export interface HostInputs extends ProgramInputs {
  /** Number of cores that the process may use. Default: the number that the system reports. */
  readonly cores?: number;
  /** Sockets that the process was given. Default: none. */
  readonly sockets?: readonly ListeningSocket[];
}

const flags = {
  port: { type: 'string', dotted: 'svc.http.port' },
  host: { type: 'string', dotted: 'svc.http.host' },
  data: { type: 'string', dotted: 'svc.data' },
  name: { type: 'string', dotted: 'svc.name' },
  log: { type: 'string', dotted: 'svc.log' },
  process: { type: 'string', dotted: CODE_NAMES.address },
  'process-command': { type: 'string', dotted: CODE_NAMES.command },
  configuration: { type: 'string', dotted: 'svc.configuration.file' },
  'configuration-folder': { type: 'string', dotted: 'svc.configuration.folder' },
  shards: { type: 'string', dotted: 'svc.shards' },
  cors: { type: 'string', dotted: 'svc.http.cors.origins' },
  'ignore-components': { type: 'string', dotted: 'svc.ignore-components' },
  deployed: { type: 'boolean', dotted: 'svc.deployed' },
  standby: { type: 'boolean', dotted: 'svc.standby' },
  'development-tokens': { type: 'boolean', dotted: 'svc.auth.development-tokens' },
} as const;
const KEYS_SOCKET = 'svc.auth.keys-socket';
/** The options of `svc run`. */
export const RUN_OPTIONS: readonly string[] = [...Object.keys(flags), 'configure', 'set'];
const FLAG_OPTIONS = { allowPositionals: true, lists: ['configure'] } as const;
const plainNames: readonly string[] = [
  ...Object.values(flags).map((flag) => flag.dotted),
  CODE_NAMES.watch,
  CODE_NAMES.file,
  'svc.http.enabled',
  ...DATABASE_NAMES,
  ...REMOTING_NAMES,
  'svc.configuration.variables',
  'svc.configuration.secrets',
  ...IDENTITY_NAMES,
  ...BEARER_SETTING_NAMES,
  KEYS_SOCKET,
  'svc.management.host',
  'svc.management.port',
  'svc.running.dir',
  'svc.calls.services-file',
  'svc.calls.sockets-folder',
  'svc.log.files.dir',
  STATE_FILE,
  'svc.upgrade.from',
  ...OTLP_NAMES,
];

/** Settings that messages of introspection name. */
export const INTROSPECTION_SETTING_NAMES: IntrospectionNames = {
  management: { host: 'svc.management.host', port: 'svc.management.port' },
  runningFolder: 'svc.running.dir',
};

const DEVELOPMENT_TOKENS = 'svc.auth.development-tokens';
/** Name of a service that nothing names. */
const UNNAMED = 'service';
const SHARDS_RANGE = [1, 256] as const;
export const MANAGEMENT_PORT = 7626;

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readSettings<const Sections extends Readonly<Record<string, SectionDefaults>>>(
  { args, env, stderrIsTerminal, cores = availableParallelism(), sockets = [] }: HostInputs,
  sections: Sections,
  ranges: SectionRanges<Sections>,
): Settings<Sections> {
  const flagged = readProgramFlags('run', args, flags, FLAG_OPTIONS);
  const { positionals } = flagged;
  const reader = new SettingsReader(flagged.given, env);
  reader.checkNames(new Set([...plainNames, ...sectionNames(sections)]));
  const deployed = reader.boolean('svc.deployed', false);
  const given = deployed ? givenSockets(sockets) : {};
  const code = readServiceCode(reader, positionals, deployed);
  const name = serviceName(reader, code);
  const database = readDatabaseUrlSource(reader);
  const dataFolder = deployed ? DEPLOYED_DATA : join('.svc', name);
  const logFolder = readPath(reader, 'svc.log.files.dir');
  const host = reader.text('svc.http.host') ?? (deployed ? '0.0.0.0' : '127.0.0.1');
  const identity = identityOf(reader, name, deployed);
  // `readStateFile` has read it, and has not reported an empty path.
  reader.text(STATE_FILE);
  return {
    deployed,
    code,
    name,
    dataFolder: resolve(reader.text('svc.data') ?? dataFolder),
    database: database && databaseSource(database),
    remoting: readRemoting(reader, { deployed, http: host, identity }),
    host,
    port: reader.port('svc.http.port', 9000),
    logFormat: readLogFormat(reader, stderrIsTerminal && !deployed && logFolder === undefined),
    http: reader.boolean('svc.http.enabled', true),
    identity,
    management: {
      host: reader.text('svc.management.host') ?? '0.0.0.0',
      port: reader.port('svc.management.port', MANAGEMENT_PORT),
      ...(given.management === undefined ? {} : { fd: given.management }),
    },
    sockets: given,
    runningFolder: runningFolder(reader.text('svc.running.dir')),
    tokens: tokenSources(reader, deployed),
    network: calledNetwork(reader, deployed),
    otlp: readOtlpTarget(reader),
    shards: reader.number(
      'svc.shards',
      deployed ? Math.min(cores, SHARDS_RANGE[1]) : 1,
      SHARDS_RANGE,
    ),
    ignoreComponents: reader.text('svc.ignore-components')?.split(',') ?? [],
    standby: reader.boolean('svc.standby', false),
    upgradeFrom: readPath(reader, 'svc.upgrade.from'),
    logFolder,
    configuration: {
      file: readPath(reader, 'svc.configuration.file'),
      folder: readPath(reader, 'svc.configuration.folder'),
      variables: readPath(reader, 'svc.configuration.variables'),
      secrets: readPath(reader, 'svc.configuration.secrets'),
      ignoresOtherVariables: code.kind !== 'module',
      assignments: flagged.listed.get('configure') ?? [],
    },
    sections: reader.sections(sections, ranges),
  };
}

/** Returns the path of the state file, which is to say that the other settings are invalid; undefined: there is none. */
export function readStateFile(inputs: Pick<HostInputs, 'args' | 'env'>): string | undefined {
  return readProgramStateFile(inputs, 'run', flags, FLAG_OPTIONS);
}

/** Throws SVC_SETTING_INVALID if a service that is not deployed has an identity. */
function identityOf(
  reader: SettingsReader,
  name: string,
  deployed: boolean,
): IdentitySettings | undefined {
  const identity = readIdentity(reader, name);
  if (identity === undefined || deployed) return identity;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `${IDENTITY_NAMES[0]} is for deployed services: add --deployed, or leave out ${IDENTITY_NAMES.join(', ')}.`,
  );
}

function serviceName(reader: SettingsReader, code: ServiceCode): string {
  const name = reader.text('svc.name') ?? (nameOfCode(code) || UNNAMED);
  if (!isOwnName(name)) throw invalidSetting('svc.name', name, OWN_NAME_WORDS);
  return name;
}

/**
 * Returns the folder in which local services register: `given`, or the user's; undefined if there is no home folder.
 */
export function runningFolder(given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(given);
  try {
    return join(homedir(), '.svc', 'running');
  } catch {
    return undefined;
  }
}

function tokenSources(reader: SettingsReader, deployed: boolean): TokenSources {
  const issuers = readAcceptedIssuers(reader);
  const isDeveloped = reader.boolean(DEVELOPMENT_TOKENS, false);
  if (isDeveloped && deployed)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${DEVELOPMENT_TOKENS} is for a developer's machine: a deployed service takes tokens of ${BEARER_SETTING_NAMES[0]} only.`,
    );
  return {
    issuers,
    keysSocket: readPath(reader, KEYS_SOCKET),
    developmentKeyFile: isDeveloped ? developmentKeyFile() : undefined,
  };
}

function calledNetwork(reader: SettingsReader, deployed: boolean): CalledNetwork {
  const servicesFile = readPath(reader, 'svc.calls.services-file');
  const socketsFolder = readSocketsFolder(reader, 'svc.calls.sockets-folder');
  if (deployed) return { kind: 'installation', servicesFile, socketsFolder };
  return { kind: 'local', runningFolder: runningFolder(reader.text('svc.running.dir')) };
}
