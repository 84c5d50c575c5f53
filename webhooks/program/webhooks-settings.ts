// WebhooksSettings: the flags and settings of `svc webhook-service` (@svc/kit/settings-reader defines how they are given).
// @svc/tokens/token-settings reads those of access tokens. No other file of the webhook service reads flags or settings.
import { type ApiListener, apiListenerNames, readApiListener } from '@svc/kit/api-listener';
import {
  DATABASE_NAMES,
  type DatabaseUrlSource,
  readDatabaseUrlSource,
} from '@svc/kit/database-settings';
import { OTLP_NAMES, type OtlpTarget, readOtlpTarget } from '@svc/kit/otlp-settings';
import {
  type ProgramInputs,
  readLogFormat,
  readPath,
  readProgramFlags,
} from '@svc/kit/program-flags';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { parseClaimPath } from '@svc/tokens/claim-path';
import {
  readTokenSettings,
  TOKEN_SETTING_NAMES,
  type TokenSettings,
} from '@svc/tokens/token-settings';
import { join, resolve } from 'node:path';
import type { CallerClaims } from '../access/webhook-caller.ts';
import { type AdmittedReceivers, ReceiverAddresses } from '../sending/receiver-addresses.ts';
import { WEBHOOKS_DEFAULTS, WEBHOOKS_RANGES, type WebhooksSection } from './webhooks-section.ts';

export interface ProgramSettings extends ApiListener {
  /** False on a developer's machine, where the console finds the service. */
  readonly deployed: boolean;
  /** Absolute path of the folder with journals and salts, unless they are in a database. A master key for development is there in any case. */
  readonly dataFolder: string;
  /** Where the URL of the database is that holds journals and salts; undefined: the data folder holds them. */
  readonly database: DatabaseUrlSource | undefined;
  /** Absolute path of the file of the master key; undefined: that of the data folder, which is made for development. */
  readonly masterKeyFile: string | undefined;
  readonly tokens: TokenSettings;
  readonly claims: CallerClaims;
  readonly admitted: AdmittedReceivers;
  /** Absolute path of the certificates of authorities that receivers may have beside those that everybody trusts, as PEM. */
  readonly authoritiesFile: string | undefined;
  /** Address of the management server, which a deployed service has. */
  readonly management: { readonly host: string; readonly port: number };
  /** Folder in which a service that is not deployed registers; undefined: that of the user. */
  readonly runningFolder: string | undefined;
  /** Receiver of spans; undefined: they are not exported. */
  readonly otlp: OtlpTarget | undefined;
  readonly logFormat: 'text' | 'json';
  readonly section: WebhooksSection;
}

const FLAGS = {
  port: { type: 'string', dotted: 'svc.webhooks.port' },
  host: { type: 'string', dotted: 'svc.webhooks.host' },
  data: { type: 'string', dotted: 'svc.data' },
  log: { type: 'string', dotted: 'svc.log' },
  deployed: { type: 'boolean', dotted: 'svc.deployed' },
} as const;
/** The options of `svc webhook-service`. */
export const WEBHOOKS_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const PROGRAM = 'svc.webhooks';
export const MASTER_KEY_FILE = 'svc.webhooks.master-key-file';
export const AUTHORITIES_FILE = 'svc.webhooks.receiver-authorities';
const TENANTS_CLAIM = 'svc.webhooks.tenants-claim';
const ADMIN_ROLE = 'svc.webhooks.admin-role';
const PLATFORM_ROLE = 'svc.webhooks.platform-role';
const SECTIONS = { webhooks: { ...WEBHOOKS_DEFAULTS } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = { webhooks: WEBHOOKS_RANGES };
const NAMES: readonly string[] = [
  ...Object.values(FLAGS).map(({ dotted }) => dotted),
  ...Object.values(apiListenerNames(PROGRAM)),
  ...TOKEN_SETTING_NAMES,
  ...DATABASE_NAMES,
  ...OTLP_NAMES,
  ...sectionNames(SECTIONS),
  MASTER_KEY_FILE,
  AUTHORITIES_FILE,
  TENANTS_CLAIM,
  ADMIN_ROLE,
  PLATFORM_ROLE,
  'svc.management.host',
  'svc.management.port',
  'svc.running.dir',
];
const MANAGEMENT_PORT = 7626;
const DEPLOYED_DATA = '/data';

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readWebhooksSettings(inputs: ProgramInputs): ProgramSettings {
  const { given } = readProgramFlags('webhook-service', inputs.args, FLAGS);
  const reader = new SettingsReader(given, inputs.env);
  reader.checkNames(new Set(NAMES));
  const deployed = reader.boolean('svc.deployed', false);
  const section = reader.sections(SECTIONS, SECTION_RANGES).webhooks;
  const tokens = readTokenSettings(reader, undefined);
  return {
    ...readApiListener(reader, PROGRAM),
    deployed,
    dataFolder: resolve(
      reader.text('svc.data') ?? (deployed ? DEPLOYED_DATA : join('.svc', 'webhook-service')),
    ),
    database: readDatabaseUrlSource(reader),
    masterKeyFile: masterKeyFileOf(reader, deployed),
    tokens,
    claims: claimsOf(reader, tokens),
    admitted: admittedOf(section),
    authoritiesFile: readPath(reader, AUTHORITIES_FILE),
    management: {
      host: reader.text('svc.management.host') ?? '0.0.0.0',
      port: reader.port('svc.management.port', MANAGEMENT_PORT),
    },
    runningFolder: reader.text('svc.running.dir'),
    otlp: readOtlpTarget(reader),
    logFormat: readLogFormat(reader, inputs.stderrIsTerminal && !deployed),
    section,
  };
}

/** A key beside what it protects, as for development, would be in each backup of the folder. */
function masterKeyFileOf(reader: SettingsReader, deployed: boolean): string | undefined {
  const path = readPath(reader, MASTER_KEY_FILE);
  if (path === undefined && deployed)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The setting ${MASTER_KEY_FILE} is missing: the file of the key that seals URLs, headers and secrets of subscriptions. ` +
        'docs/how-to/running-the-webhook-service.md says how to make it.',
    );
  return path;
}

function claimsOf(reader: SettingsReader, { rolesPath }: TokenSettings): CallerClaims {
  const claim = reader.text(TENANTS_CLAIM) ?? 'tenants';
  const tenantsPath = parseClaimPath(claim);
  if (tenantsPath === undefined)
    throw invalidSetting(TENANTS_CLAIM, claim, 'names of claims with full stops between');
  const adminRole = reader.text(ADMIN_ROLE) ?? 'tenant-admin';
  const platformRole = reader.text(PLATFORM_ROLE) ?? 'platform';
  // Administrators of tenants would report datasets of others.
  if (platformRole === adminRole)
    throw invalidSetting(PLATFORM_ROLE, platformRole, `another role than ${ADMIN_ROLE}`);
  return { tenantsPath, rolesPath, adminRole, platformRole };
}

function admittedOf({ admittedNetworks, admittedDomains }: WebhooksSection): AdmittedReceivers {
  for (const network of admittedNetworks)
    if (!isAdmissible({ networks: [network], domains: [] }))
      throw invalidSetting(
        'svc.webhooks.admitted-networks',
        network,
        'networks such as 10.1.0.0/16 or fd00::/8, with commas between',
      );
  for (const domain of admittedDomains)
    if (!isAdmissible({ networks: [], domains: [domain] }))
      throw invalidSetting(
        'svc.webhooks.admitted-domains',
        domain,
        'domains such as hooks.example.com, with commas between',
      );
  return { networks: admittedNetworks, domains: admittedDomains };
}

function isAdmissible(admitted: AdmittedReceivers): boolean {
  try {
    new ReceiverAddresses({ admitted, addressesMax: 1, nameTimeoutMs: 1 }).cancel();
    return true;
  } catch {
    return false;
  }
}
