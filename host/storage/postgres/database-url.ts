// DatabaseUrl is the URL of a database, parsed strictly: everything in it is understood, or refused by name.
//
// Invariants
// - No message of a failure, and nothing that is printed of a DatabaseUrl, holds the password, the user or the URL.
// - Beyond this machine, the certificate and the host name of the server are verified.
import { isIP, isIPv6 } from 'node:net';
import { SvcError } from '@svc/kit/svc-error';

export interface DatabaseHost {
  /** A name, an address, or the absolute path of the folder with the server's Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** Files for TLS. Without authorities, those that Node trusts are trusted. */
export interface DatabaseTls {
  /** Authorities that the URL names. */
  readonly rootCertificate?: string;
  /** Authorities that a setting names, where the URL names none. */
  readonly authoritiesFile?: string;
  readonly client?: { readonly certificate: string; readonly key: string };
}

export interface DatabaseUrl {
  /** They are tried in this order. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  /** A function, because values are printed and posted. */
  readonly password: () => string | undefined;
  readonly database: string;
  /** Undefined: without TLS. A Unix socket has none in any case. */
  readonly tls: DatabaseTls | undefined;
  readonly applicationName: string;
  /** For each host. */
  readonly connectTimeoutMs: number;
  /** `postgresql://host:port/database`, for messages. */
  readonly shown: string;
}

const SCHEME = /^postgres(?:ql)?:\/\//;
/** The names of PostgreSQL are cut off there. */
const NAME_BYTES_MAX = 63;
const HOSTS_MAX = 16;
/** Folders of sockets are part of an address of 107 bytes. */
const FOLDER_BYTES_MAX = 80;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;
const NUMBERS = /^[0-9.]+$/;
const PORT = 5432;
const CONNECT_TIMEOUT_S = 10;
const CONNECT_TIMEOUT_S_MAX = 600;
const PARAMETERS = [
  'application_name',
  'connect_timeout',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
] as const;
type ParameterName = (typeof PARAMETERS)[number];
type Parameters = ReadonlyMap<ParameterName, string>;

/** Returns whether connections to a host stay on this machine. */
export function isLocal({ host }: DatabaseHost): boolean {
  return (
    host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\.[0-9.]+$/.test(host)
  );
}

/** `where` says where the URL was found, such as `the file /run/url`. Throws SVC_DATABASE_URL_INVALID. */
export function parseDatabaseUrl(text: string, where: string): DatabaseUrl {
  try {
    return parsed(text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw invalidUrl(where, error.message);
  }
}

/** `problem`: a clause about the URL in `where`. */
export function invalidUrl(where: string, problem: string): SvcError {
  return new SvcError(
    'SVC_DATABASE_URL_INVALID',
    `The URL of the database in ${where} cannot be used: ${problem}. ` +
      'Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE there.',
  );
}

/** Describes what is wrong with a URL, as a clause. */
class Problem extends Error {}

function parsed(text: string): DatabaseUrl {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007F]/.test(text))
    throw new Problem('it holds a space or a control character');
  if (!SCHEME.test(text)) throw new Problem('it does not begin with postgresql:// or postgres://');
  const rest = text.replace(SCHEME, '');
  if (rest.includes('#')) throw new Problem('it holds a #, which has to be written as %23');
  const [credentials, address, ...more] = rest.split('@');
  if (more.length > 0)
    throw new Problem(
      'it holds more than one @; one that is part of a name or password has to be written as %40',
    );
  if (address === undefined) throw new Problem('it names no user, which stands before an @');
  if (/[/?]/.test(credentials!))
    throw new Problem(
      'its user or password holds a / or ?, which have to be written as %2F and %3F',
    );
  const [, hostList, databaseText, query] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(address)!;
  const { user, password } = credentialsOf(credentials!);
  const hosts = hostsOf(hostList!);
  const database = databaseOf(databaseText);
  const parameters = parametersOf(query);
  return {
    hosts,
    user,
    password: () => password,
    database,
    tls: tlsOf(parameters, hosts),
    applicationName: applicationNameOf(parameters.get('application_name') ?? 'svc'),
    connectTimeoutMs: connectTimeoutOf(parameters.get('connect_timeout')) * 1_000,
    shown: `postgresql://${hosts.map(shownHost).join(',')}/${encodeURIComponent(database)}`,
  };
}

function credentialsOf(text: string): { user: string; password: string | undefined } {
  const [user = '', password, ...more] = text.split(':');
  if (more.length > 0)
    throw new Problem('its password holds a colon, which has to be written as %3A');
  if (user === '') throw new Problem('its user is empty');
  if (password === '')
    throw new Problem('its password is empty; leave out the colon if there is none');
  return {
    user: name('user', user),
    password: password === undefined ? undefined : decoded('password', password),
  };
}

function databaseOf(text: string | undefined): string {
  if (text === undefined || text === '') throw new Problem('it names no database');
  if (text.includes('/')) throw new Problem('its path has more parts than the name of a database');
  return name('database', text);
}

function hostsOf(text: string): readonly DatabaseHost[] {
  if (text === '') throw new Problem('it names no host');
  const hosts = text
    .split(',')
    .map((host, index, all) =>
      hostOf(host, all.length === 1 ? 'its host' : `host ${index + 1} of ${all.length}`),
    );
  if (hosts.length > HOSTS_MAX) throw new Problem(`it names more than ${HOSTS_MAX} hosts`);
  if (new Set(hosts.map(shownHost)).size < hosts.length)
    throw new Problem('it names a host twice with the same port');
  return hosts;
}

/** `which` is read in messages. A host may be part of a password that was not encoded, so that no message has it. */
function hostOf(text: string, which: string): DatabaseHost {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? [];
  if (bracketed === undefined && plain === undefined)
    throw new Problem(`${which} is neither HOST, HOST:PORT nor [IPv6]:PORT`);
  const port = portOf(portText, which);
  if (bracketed !== undefined) {
    if (!isIPv6(bracketed) || bracketed.includes('%'))
      throw new Problem(`${which} has brackets without an IPv6 address in them`);
    return { host: bracketed, port };
  }
  if (plain === '') throw new Problem(`${which} is empty`);
  const host = decoded(which, plain!);
  if (host.startsWith('/')) {
    if (Buffer.byteLength(host) > FOLDER_BYTES_MAX)
      throw new Problem(
        `${which}, the folder of a socket, has more than ${FOLDER_BYTES_MAX} bytes`,
      );
    return { host, port };
  }
  if (!HOST_NAME.test(host) || (NUMBERS.test(host) && isIP(host) === 0))
    throw new Problem(
      `${which} is neither a name, an address, nor the folder of a socket such as %2Frun%2Fpostgresql`,
    );
  return { host: host.toLowerCase(), port };
}

function portOf(text: string | undefined, which: string): number {
  if (text === undefined) return PORT;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw new Problem(`the port of ${which} is not a number from 1 to 65535`);
  return port;
}

function parametersOf(query: string | undefined): Parameters {
  const parameters = new Map<ParameterName, string>();
  if (query === undefined) return parameters;
  for (const pair of query.split('&')) {
    const [key, value, ...more] = pair.split('=');
    const parameter = PARAMETERS.find((known) => known === key);
    if (parameter === undefined) throw new Problem(unknownParameter(key!));
    if (value === undefined || more.length > 0)
      throw new Problem(`its parameter ${parameter} is not written as ${parameter}=VALUE`);
    if (value === '') throw new Problem(`its parameter ${parameter} is empty`);
    if (parameters.has(parameter)) throw new Problem(`it has the parameter ${parameter} twice`);
    parameters.set(parameter, decoded(`parameter ${parameter}`, value));
  }
  return parameters;
}

function unknownParameter(key: string): string {
  const known = `the parameters are ${PARAMETERS.join(', ')}`;
  return /^[A-Za-z_]{1,40}$/.test(key)
    ? `its parameter ${key} is unknown; ${known}`
    : `it has a parameter whose name is no name; ${known}`;
}

function tlsOf(parameters: Parameters, hosts: readonly DatabaseHost[]): DatabaseTls | undefined {
  const mode = parameters.get('sslmode') ?? (hosts.every(isLocal) ? 'disable' : 'verify-full');
  const rootCertificate = fileOf(parameters, 'sslrootcert');
  const certificate = fileOf(parameters, 'sslcert');
  const key = fileOf(parameters, 'sslkey');
  if (mode === 'disable') {
    if (!hosts.every(isLocal))
      throw new Problem('sslmode=disable is for hosts on this machine alone; use verify-full');
    if (rootCertificate ?? certificate ?? key)
      throw new Problem('it names files for TLS, and TLS is not used; add sslmode=verify-full');
    return undefined;
  }
  if (mode !== 'verify-full') throw new Problem(refusedMode(mode));
  if ((certificate === undefined) !== (key === undefined))
    throw new Problem('it has one of sslcert and sslkey; a client certificate needs both');
  return {
    ...(rootCertificate === undefined ? {} : { rootCertificate }),
    ...(certificate === undefined ? {} : { client: { certificate, key: key! } }),
  };
}

function refusedMode(mode: string): string {
  return ['allow', 'prefer', 'require', 'verify-ca'].includes(mode)
    ? `sslmode=${mode} does not check whether the server is the one that the URL names; use verify-full`
    : 'its sslmode is neither verify-full nor disable';
}

function fileOf(parameters: Parameters, parameter: ParameterName): string | undefined {
  const path = parameters.get(parameter);
  if (path !== undefined && !path.startsWith('/'))
    throw new Problem(`its parameter ${parameter} is not the absolute path of a file`);
  return path;
}

function applicationNameOf(text: string): string {
  if (!/^[\x20-\x7E]{1,63}$/.test(text))
    throw new Problem('its application_name is not 1 to 63 printable characters of ASCII');
  return text;
}

function connectTimeoutOf(text: string | undefined): number {
  if (text === undefined) return CONNECT_TIMEOUT_S;
  const seconds = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > CONNECT_TIMEOUT_S_MAX)
    throw new Problem(
      `its connect_timeout is not a number of seconds from 1 to ${CONNECT_TIMEOUT_S_MAX}`,
    );
  return seconds;
}

function name(what: string, text: string): string {
  const value = decoded(what, text);
  if (Buffer.byteLength(value) > NAME_BYTES_MAX)
    throw new Problem(`its ${what} has more than ${NAME_BYTES_MAX} bytes`);
  return value;
}

function decoded(what: string, text: string): string {
  let value;
  try {
    value = decodeURIComponent(text);
  } catch {
    throw new Problem(
      `its ${what} holds a % that begins no character; write a percent sign as %25`,
    );
  }
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001F\u007F]/.test(value))
    throw new Problem(`its ${what} holds a control character`);
  return value;
}

export function shownHost({ host, port }: DatabaseHost): string {
  return `${isIPv6(host) ? `[${host}]` : encodeURIComponent(host)}:${port}`;
}
