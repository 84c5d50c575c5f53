// Settings: the sole reader of the environment and of the host's flags. Every setting has one dotted
// name; `svc.http.port` is also the variable SVC_HTTP_PORT and may be given as `--set svc.http.port=1`.
// A flag goes before the environment, and that before the default. docs/reference/settings.md lists all.
import { availableParallelism, homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { dottedName, variableName } from '../model/setting-name.ts';
import { SvcError } from '../model/svc-error.ts';

export type SettingValue = number | boolean | readonly string[];

/** The settings of a section with their defaults: `{ answerTimeoutMs: 60_000 }`. */
export type SectionDefaults = Readonly<Record<string, SettingValue>>;

/** The type that a setting has, whatever its default is. */
type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : Value;

/** The least and the most of each number, and how many entries each list has. */
export type SectionRanges<Sections extends Readonly<Record<string, SectionDefaults>>> = {
  readonly [Section in keyof Sections]: {
    readonly [
      Key in keyof Sections[Section] as Sections[Section][Key] extends boolean ? never : Key
    ]: readonly [min: number, max: number];
  };
};

/** Where a deployed instance finds its module and keeps its journal, when nothing else is said. */
const DEPLOYED_MODULE = '/service/module.wasm';
const DEPLOYED_DATA = '/data';

export interface Settings<Sections extends Readonly<Record<string, SectionDefaults>>> {
  /** Not a run on a developer's machine: every caller is the internet's, and there is nobody to look on. */
  readonly deployed: boolean;
  /** Absolute path of the module. */
  readonly moduleFile: string;
  /** Name of the service: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Absolute path of the folder that holds the journal. */
  readonly dataFolder: string;
  readonly host: string;
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
  readonly logFormat: 'text' | 'json';
  /** Whether it serves its routes at all. */
  readonly http: boolean;
  /** Of a deployed instance. */
  readonly management: { readonly host: string; readonly port: number };
  /** Absolute path of the folder in which a run that is not deployed registers; undefined: there is no home for it. */
  readonly runningFolder: string | undefined;
  /** Where spans are exported to, if anywhere: the whole address, and what is sent with it. */
  readonly otlp: OtlpTarget | undefined;
  /** Threads that serve it. */
  readonly shards: number;
  /** Components that the module has no more on purpose: their events stay unread. */
  readonly allowUnread: readonly string[];
  /** Each section's settings, as they are set. */
  readonly sections: {
    readonly [Section in keyof Sections]: {
      readonly [Key in keyof Sections[Section]]: Widened<Sections[Section][Key]>;
    };
  };
}

export interface OtlpTarget {
  readonly url: string;
  /** They may be secrets, and are never told. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Surroundings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderrIsTerminal: boolean;
  /** That the process may use; left out: as the system says. */
  readonly cores?: number;
}

const flags = {
  port: { type: 'string', dotted: 'svc.http.port' },
  host: { type: 'string', dotted: 'svc.http.host' },
  data: { type: 'string', dotted: 'svc.data' },
  name: { type: 'string', dotted: 'svc.name' },
  log: { type: 'string', dotted: 'svc.log' },
  shards: { type: 'string', dotted: 'svc.shards' },
  cors: { type: 'string', dotted: 'svc.http.cors.origins' },
  'allow-unread': { type: 'string', dotted: 'svc.allow-unread' },
  deployed: { type: 'boolean', dotted: 'svc.deployed' },
} as const;
/** The options of `svc run`. */
export const RUN_OPTIONS: readonly string[] = [...Object.keys(flags), 'set'];
const plainNames: readonly string[] = [
  ...Object.values(flags).map((flag) => flag.dotted),
  'svc.http.enabled',
  'svc.management.host',
  'svc.management.port',
  'svc.running.dir',
  'svc.observability.otlp-endpoint',
  'svc.observability.otlp-headers',
];

const PORT_RANGE = [0, 65_535] as const;
const SHARDS_RANGE = [1, 256] as const;
export const MANAGEMENT_PORT = 7626;
/** Sets a list to nothing: a value that is empty is refused. */
const EMPTY_LIST = 'none';
/** Where a receiver of OTLP over HTTP takes traces, when the address has no path of its own. */
const OTLP_TRACES_PATH = '/v1/traces';

/** Throws SVC_USAGE for words that make no sense, SVC_SETTING_INVALID for a value that does not. */
export function readSettings<const Sections extends Readonly<Record<string, SectionDefaults>>>(
  { args, env, stderrIsTerminal, cores = availableParallelism() }: Surroundings,
  sections: Sections,
  ranges: SectionRanges<Sections>,
): Settings<Sections> {
  const { positionals, given } = readFlags(args);
  const known = new Set([
    ...plainNames,
    ...Object.entries(sections).flatMap(([section, record]) =>
      Object.keys(record).map((key) => dottedName(section, key)),
    ),
  ]);
  for (const dotted of given.keys())
    if (!known.has(dotted))
      throw new SvcError(
        'SVC_USAGE',
        `There is no setting '${dotted}'. docs/reference/settings.md lists them.`,
      );
  const lookUp = (dotted: string): string | undefined => {
    const value = given.get(dotted) ?? env[variableName(dotted)];
    // It comes of a variable that is not set, and as a folder would be this one, as a host every address.
    if (value === '') throw invalid(dotted, value, 'a value that is not empty');
    return value;
  };

  const deployed = readBoolean('svc.deployed', lookUp('svc.deployed'));
  const moduleFile = moduleOf(positionals, deployed);
  const name = lookUp('svc.name') ?? nameFromFile(moduleFile);
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw invalid('svc.name', name, 'lower-case letters, digits and hyphens, at most 63');
  const logFormat = lookUp('svc.log') ?? (stderrIsTerminal && !deployed ? 'text' : 'json');
  if (logFormat !== 'text' && logFormat !== 'json')
    throw invalid('svc.log', logFormat, "'text' or 'json'");
  return {
    deployed,
    moduleFile: resolve(moduleFile),
    name,
    dataFolder: resolve(lookUp('svc.data') ?? (deployed ? DEPLOYED_DATA : join('.svc', name))),
    host: lookUp('svc.http.host') ?? (deployed ? '0.0.0.0' : '127.0.0.1'),
    port: readNumber('svc.http.port', lookUp('svc.http.port'), 9000, PORT_RANGE),
    logFormat,
    http: readBoolean('svc.http.enabled', lookUp('svc.http.enabled') ?? 'true'),
    management: {
      host: lookUp('svc.management.host') ?? '0.0.0.0',
      port: readNumber(
        'svc.management.port',
        lookUp('svc.management.port'),
        MANAGEMENT_PORT,
        PORT_RANGE,
      ),
    },
    runningFolder: runningFolder(lookUp('svc.running.dir')),
    otlp: otlpTarget(
      lookUp('svc.observability.otlp-endpoint'),
      lookUp('svc.observability.otlp-headers'),
    ),
    shards: readNumber(
      'svc.shards',
      lookUp('svc.shards'),
      deployed ? Math.min(cores, SHARDS_RANGE[1]) : 1,
      SHARDS_RANGE,
    ),
    allowUnread: lookUp('svc.allow-unread')?.split(',') ?? [],
    sections: Object.fromEntries(
      Object.entries(sections).map(([section, record]) => [
        section,
        Object.fromEntries(
          Object.entries(record).map(([key, fallback]) => {
            const dotted = dottedName(section, key);
            const range = (ranges[section] as Readonly<Record<string, Range>>)[key];
            return [key, readValue(dotted, lookUp(dotted), fallback, range)];
          }),
        ),
      ]),
    ) as Settings<Sections>['sections'],
  };
}

function readFlags(args: readonly string[]) {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      options: { ...flags, set: { type: 'string', multiple: true } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new SvcError(
      'SVC_USAGE',
      // What follows the first sentence is about words that begin with a hyphen.
      `${(error as Error).message.split(/\.\s/)[0]}. svc run --help lists the options.`,
    );
  }
  const given = new Map<string, string>();
  for (const assignment of parsed.values.set ?? []) {
    const equals = assignment.indexOf('=');
    if (equals < 0)
      throw new SvcError('SVC_USAGE', `--set takes NAME=VALUE, and found '${assignment}'.`);
    given.set(assignment.slice(0, equals), assignment.slice(equals + 1));
  }
  for (const [flag, { dotted }] of Object.entries(flags)) {
    const value = parsed.values[flag as keyof typeof flags];
    if (value !== undefined) given.set(dotted, String(value));
  }
  return { positionals: parsed.positionals, given };
}

/** A deployed instance has its module where the image puts it, unless the command line names another. */
function moduleOf(positionals: readonly string[], deployed: boolean): string {
  const [moduleFile, ...others] = positionals;
  if (moduleFile !== undefined && moduleFile !== '' && others.length === 0) return moduleFile;
  if (moduleFile === undefined && deployed) return DEPLOYED_MODULE;
  throw new SvcError(
    'SVC_USAGE',
    `run takes one MODULE.wasm, and found ${positionals.join(' ') || 'none'}. svc run --help says more.`,
  );
}

function nameFromFile(moduleFile: string): string {
  const plain = basename(moduleFile, '.wasm')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return plain.replaceAll(/^-+|-+$/g, '').slice(0, 63) || 'service';
}

/** The folder in which local services register: `given`, or that of the user; undefined when there is no home folder. */
export function runningFolder(given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(given);
  try {
    return join(homedir(), '.svc', 'running');
  } catch {
    return undefined;
  }
}

/** The address that spans are sent to: an endpoint without a path has the path of OTLP. Throws SVC_SETTING_INVALID. */
export function otlpUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid('svc.observability.otlp-endpoint', endpoint, 'an address of HTTP or HTTPS');
  if (url.pathname === '/') url.pathname = OTLP_TRACES_PATH;
  return url.href;
}

function otlpTarget(
  endpoint: string | undefined,
  headersText: string | undefined,
): OtlpTarget | undefined {
  if (endpoint === undefined) return undefined;
  const url = otlpUrl(endpoint);
  const headers = Object.fromEntries(
    (headersText?.split(',') ?? []).map((header) => {
      const [name = '', ...value] = header.split('=');
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name.trim()) || value.length === 0)
        // What is there may be a secret, so it is not told.
        throw invalid('svc.observability.otlp-headers', '…', 'NAME=VALUE, with commas between');
      return [name.trim(), value.join('=').trim()];
    }),
  );
  return { url, headers };
}

type Range = readonly [min: number, max: number];

/** A value of the type that the default has. Every number and every list has a range. */
function readValue(
  dotted: string,
  text: string | undefined,
  fallback: SettingValue,
  range: Range | undefined,
): SettingValue {
  if (typeof fallback === 'number') return readNumber(dotted, text, fallback, range!);
  if (text === undefined) return fallback;
  return typeof fallback === 'boolean' ? readBoolean(dotted, text) : readList(dotted, text, range!);
}

function readList(dotted: string, text: string, [min, max]: Range): readonly string[] {
  const entries = text === EMPTY_LIST ? [] : text.split(',').map((entry) => entry.trim());
  if (entries.includes('') || entries.length < min || entries.length > max)
    throw invalid(dotted, text, `'${EMPTY_LIST}', or up to ${max} entries with commas between`);
  return entries;
}

function readBoolean(dotted: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw invalid(dotted, text, "'true' or 'false'");
}

function readNumber(
  dotted: string,
  text: string | undefined,
  fallback: number,
  [min, max]: Range,
): number {
  if (text === undefined) return fallback;
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw invalid(dotted, text, `a whole number from ${min} to ${max}`);
  return value;
}

function invalid(dotted: string, found: string, wanted: string): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${dotted} (environment: ${variableName(dotted)}) takes ${wanted}, and found '${found}'.`,
  );
}
