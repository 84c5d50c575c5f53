// GatewaySettings: the flags and settings of `svc gateway` (@svc/kit/settings-reader defines how they are given). No other file of the
// gateway reads flags or settings. docs/reference/settings.md lists all of them.
import { defaultGatewayId, parseSpiffeId } from '@svc/identity/spiffe-id';
import { readBaseDomain } from '@svc/kit/base-domain';
import { LOG_LIMITS_DEFAULT, LOG_LIMITS_RANGE, type LogLimits } from '@svc/kit/log-limits';
import { type LoopbackAddress, loopbackAddress } from '@svc/kit/loopback-address';
import { type ProgramInputs, readLogFormat, readProgramFlags } from '@svc/kit/program-flags';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { resolve } from 'node:path';
import { GATEWAY_DEFAULTS, GATEWAY_RANGES, type GatewaySection } from './gateway-section.ts';

/** Labels of the base domain that belong to the platform. */
const PLATFORM_LABELS = ['api', 'login', 'registry'] as const;
type PlatformLabel = (typeof PLATFORM_LABELS)[number];

export interface GatewayIdentitySettings {
  /** Absolute path of the folder with tls.crt, tls.key and ca.crt. */
  readonly folder: string;
  /** SPIFFE ID of the gateway. */
  readonly ownId: string;
}

/** Where the programs of the platform listen. */
export interface PlatformSettings {
  readonly byHostname: ReadonlyMap<string, LoopbackAddress>;
  readonly apiHostname: string;
  /** The webhook service, which has a part of the paths of `apiHostname`. Undefined: there is none. */
  readonly webhooks: LoopbackAddress | undefined;
}

export interface GatewaySettings {
  readonly host: string;
  /** Domain of derived hostnames and of the platform's, without a port. */
  readonly domain: string;
  /** Port of the URLs at which the gateway is reached: that of the base domain, or 443. */
  readonly publicPort: number;
  /** Absolute path of the folder of certificates. */
  readonly certificates: string;
  /** Absolute path of the socket of the orchestrator; undefined: the gateway only reads the file of routes. */
  readonly routesSocket: string | undefined;
  /** Absolute path of the file of routes; undefined: without an orchestrator there are no routes. */
  readonly routesFile: string | undefined;
  /** Undefined: requests go to instances without mutual TLS. */
  readonly identity: GatewayIdentitySettings | undefined;
  readonly platform: PlatformSettings;
  readonly logFormat: 'text' | 'json';
  readonly log: LogLimits;
  readonly section: GatewaySection;
}

const BASE_DOMAIN = 'svc.gateway.base-domain';
const CERTIFICATES = 'svc.gateway.certificates';
const ROUTES_SOCKET = 'svc.gateway.routes-socket';
const ROUTES_FILE = 'svc.gateway.routes-file';
const IDENTITY_FOLDER = 'svc.identity.folder';
const IDENTITY_GATEWAY = 'svc.identity.gateway';
const WEBHOOKS_URL = 'svc.gateway.webhooks-url';
const HTTPS_PORT = 443;

const FLAGS = {
  'base-domain': { type: 'string', dotted: BASE_DOMAIN },
  certificates: { type: 'string', dotted: CERTIFICATES },
  host: { type: 'string', dotted: 'svc.gateway.host' },
  port: { type: 'string', dotted: 'svc.gateway.port' },
  'plain-port': { type: 'string', dotted: 'svc.gateway.plain-port' },
  log: { type: 'string', dotted: 'svc.log' },
} as const;
/** The options of `svc gateway`. */
export const GATEWAY_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const PLAIN_NAMES: readonly string[] = [
  BASE_DOMAIN,
  CERTIFICATES,
  ROUTES_SOCKET,
  ROUTES_FILE,
  IDENTITY_FOLDER,
  IDENTITY_GATEWAY,
  'svc.gateway.host',
  'svc.log',
  ...PLATFORM_LABELS.map(urlSetting),
  WEBHOOKS_URL,
];

const SECTIONS = { gateway: { ...GATEWAY_DEFAULTS }, log: { ...LOG_LIMITS_DEFAULT } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = {
  gateway: GATEWAY_RANGES,
  log: LOG_LIMITS_RANGE,
};

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readGatewaySettings({
  args,
  env,
  stderrIsTerminal,
}: ProgramInputs): GatewaySettings {
  const reader = new SettingsReader(readProgramFlags('gateway', args, FLAGS).given, env);
  reader.checkNames(new Set([...PLAIN_NAMES, ...sectionNames(SECTIONS)]));
  const sections = reader.sections(SECTIONS, SECTION_RANGES);
  const baseDomain =
    readBaseDomain(reader, BASE_DOMAIN) ??
    missing(BASE_DOMAIN, 'the domain of the hostnames that the platform derives');
  const [domain = '', port] = baseDomain.split(':');
  return {
    host: reader.text('svc.gateway.host') ?? '0.0.0.0',
    domain,
    publicPort: port === undefined ? HTTPS_PORT : Number(port),
    certificates: resolve(
      reader.text(CERTIFICATES) ??
        missing(CERTIFICATES, 'the folder of certificates for hostnames'),
    ),
    ...routesOf(reader),
    identity: identityOf(reader, domain, sections.gateway),
    platform: platformOf(reader, domain),
    logFormat: readLogFormat(reader, stderrIsTerminal),
    log: sections.log,
    section: sections.gateway,
  };
}

function routesOf(reader: SettingsReader): Pick<GatewaySettings, 'routesSocket' | 'routesFile'> {
  const [socket, file] = [ROUTES_SOCKET, ROUTES_FILE].map((dotted) => {
    const path = reader.text(dotted);
    return path === undefined ? undefined : resolve(path);
  });
  if (socket === undefined && file === undefined)
    missing(ROUTES_SOCKET, 'the socket at which the orchestrator publishes its routes');
  return { routesSocket: socket, routesFile: file };
}

function identityOf(
  reader: SettingsReader,
  domain: string,
  { plainInstances }: GatewaySection,
): GatewayIdentitySettings | undefined {
  const folder = reader.text(IDENTITY_FOLDER);
  const ownId = reader.text(IDENTITY_GATEWAY) ?? defaultGatewayId(domain);
  if (parseSpiffeId(ownId) === undefined)
    throw invalidSetting(
      IDENTITY_GATEWAY,
      ownId,
      'a SPIFFE ID, such as spiffe://example.org/gateway',
    );
  if (folder !== undefined) return { folder: resolve(folder), ownId };
  if (plainInstances) return undefined;
  return missing(
    IDENTITY_FOLDER,
    'the folder of the certificate by which the gateway proves to services who it is',
  );
}

function platformOf(reader: SettingsReader, domain: string): PlatformSettings {
  const byHostname = new Map<string, LoopbackAddress>();
  for (const label of PLATFORM_LABELS) {
    const address = addressOf(reader, urlSetting(label));
    if (address !== undefined) byHostname.set(`${label}.${domain}`, address);
  }
  return { byHostname, apiHostname: `api.${domain}`, webhooks: addressOf(reader, WEBHOOKS_URL) };
}

function addressOf(reader: SettingsReader, dotted: string): LoopbackAddress | undefined {
  const url = reader.text(dotted);
  if (url === undefined) return undefined;
  const address = loopbackAddress(url);
  if (address !== undefined) return address;
  throw invalidSetting(dotted, url, 'a URL of this machine, such as http://127.0.0.1:7640');
}

function urlSetting(label: PlatformLabel): string {
  return `svc.gateway.${label}-url`;
}

function missing(dotted: string, what: string): never {
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${dotted} is missing: ${what}. docs/how-to/running-the-gateway.md explains it.`,
  );
}
