// ControlPlaneSettings: the flags and settings of `svc control-plane` (@svc/kit/settings-reader defines how they are given).
// @svc/tokens/token-settings reads those of access tokens, orchestration/orchestrator-settings.ts those of the orchestrator, and
// local/local-settings.ts those of the services of this machine, kubernetes/kubernetes-settings.ts those of services in a cluster. No other file of the control plane reads flags or settings.
import { originProblem } from '@svc/contract';
import { type ApiListener, apiListenerNames, readApiListener } from '@svc/kit/api-listener';
import { readBaseDomain } from '@svc/kit/base-domain';
import {
  DATABASE_NAMES,
  type DatabaseUrlSource,
  readDatabaseUrlSource,
} from '@svc/kit/database-settings';
import { OTLP_NAMES, type OtlpTarget, readOtlpTarget } from '@svc/kit/otlp-settings';
import { type ProgramInputs, readLogFormat, readProgramFlags } from '@svc/kit/program-flags';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { join, resolve } from 'node:path';
import {
  readTokenSettings,
  TOKEN_SETTING_NAMES,
  type TokenSettings,
} from '@svc/tokens/token-settings';
import { CREATION_POLICIES, type CreationPolicy } from '../endpoints/creation-policy.ts';
import {
  LOCAL_SETTING_NAMES,
  type LocalSettings,
  readLocalSettings,
} from '../local/local-settings.ts';
import {
  KUBERNETES_SETTING_NAMES,
  type KubernetesSettings,
  readKubernetesSettings,
} from '../kubernetes/kubernetes-settings.ts';
import type { OrchestratorSection } from '../orchestration/orchestrator-section.ts';
import {
  ORCHESTRATOR_SETTING_NAMES,
  readOrchestratorSettings,
} from '../orchestration/orchestrator-settings.ts';
import {
  CONTROL_PLANE_DEFAULTS,
  CONTROL_PLANE_RANGES,
  type ControlPlaneSection,
} from './control-plane-section.ts';

export interface ProgramSettings extends ApiListener {
  /** False on a developer's machine, where the console finds the control plane. */
  readonly deployed: boolean;
  /** Absolute path of the folder with the journal, unless that is in a database. */
  readonly dataFolder: string;
  /** Where the URL of the database is that holds the journal; undefined: the data folder holds it. */
  readonly database: DatabaseUrlSource | undefined;
  /** Domain of derived hostnames, with its port if that is not 443; undefined: there are none. */
  readonly baseDomain: string | undefined;
  readonly policy: CreationPolicy;
  /** Origins of pages that may read the answers; empty: none may. */
  readonly allowedOrigins: readonly string[];
  readonly tokens: TokenSettings;
  /** Address of the management server, which a deployed control plane has. */
  readonly management: { readonly host: string; readonly port: number };
  /** Folder in which a control plane that is not deployed registers; undefined: that of the user. */
  readonly runningFolder: string | undefined;
  /** Receiver of spans; undefined: they are not exported. */
  readonly otlp: OtlpTarget | undefined;
  readonly logFormat: 'text' | 'json';
  readonly orchestrator: OrchestratorSection;
  /** Undefined: this machine runs no services. */
  readonly local: LocalSettings | undefined;
  /** Undefined: no cluster runs services. At most one of `local` and this is defined. */
  readonly kubernetes: KubernetesSettings | undefined;
  readonly section: ControlPlaneSection;
}

const FLAGS = {
  port: { type: 'string', dotted: 'svc.control-plane.port' },
  host: { type: 'string', dotted: 'svc.control-plane.host' },
  data: { type: 'string', dotted: 'svc.data' },
  log: { type: 'string', dotted: 'svc.log' },
  deployed: { type: 'boolean', dotted: 'svc.deployed' },
} as const;
/** The options of `svc control-plane`. */
export const CONTROL_PLANE_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const PROGRAM = 'svc.control-plane';
const CREATION = 'svc.organization-creation';
const SIGNUP_URL = 'svc.signup-url';
const BASE_DOMAIN = 'svc.control-plane.base-domain';
const ALLOWED_ORIGINS = 'svc.control-plane.allowed-origins';
const ALLOWED_ORIGINS_MAX = 100;
const SECTIONS = { 'control-plane': { ...CONTROL_PLANE_DEFAULTS } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = { 'control-plane': CONTROL_PLANE_RANGES };
const NAMES: readonly string[] = [
  ...Object.values(FLAGS).map(({ dotted }) => dotted),
  ...Object.values(apiListenerNames(PROGRAM)),
  ...TOKEN_SETTING_NAMES,
  ...ORCHESTRATOR_SETTING_NAMES,
  ...LOCAL_SETTING_NAMES,
  ...KUBERNETES_SETTING_NAMES,
  ...DATABASE_NAMES,
  ...OTLP_NAMES,
  ...sectionNames(SECTIONS),
  ALLOWED_ORIGINS,
  BASE_DOMAIN,
  CREATION,
  SIGNUP_URL,
  'svc.management.host',
  'svc.management.port',
  'svc.running.dir',
];
const MANAGEMENT_PORT = 7626;
const DEPLOYED_DATA = '/data';

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readControlPlaneSettings(inputs: ProgramInputs): ProgramSettings {
  const { given } = readProgramFlags('control-plane', inputs.args, FLAGS);
  const reader = new SettingsReader(given, inputs.env);
  reader.checkNames(new Set(NAMES));
  const deployed = reader.boolean('svc.deployed', false);
  const baseDomain = readBaseDomain(reader, BASE_DOMAIN);
  const section = reader.sections(SECTIONS, SECTION_RANGES)['control-plane'];
  const tokens = readTokenSettings(reader, baseDomain);
  const { clientId } = tokens;
  const local = readLocalSettings(reader, clientId);
  const kubernetes = readKubernetesSettings(reader, {
    environment: inputs.env,
    baseDomain,
    clientId,
  });
  if (local !== undefined && kubernetes !== undefined)
    throw invalidSetting(
      'svc.kubernetes.image',
      kubernetes.image,
      'no value beside svc.local.folder: the services of an installation run on one machine or in a cluster',
    );
  return {
    deployed,
    dataFolder: resolve(
      reader.text('svc.data') ?? (deployed ? DEPLOYED_DATA : join('.svc', 'control-plane')),
    ),
    database: readDatabaseUrlSource(reader),
    ...readApiListener(reader, PROGRAM),
    baseDomain,
    policy: { creation: creationOf(reader), signupUrl: signupUrlOf(reader) },
    allowedOrigins: allowedOriginsOf(reader),
    tokens,
    management: {
      host: reader.text('svc.management.host') ?? '0.0.0.0',
      port: reader.port('svc.management.port', MANAGEMENT_PORT),
    },
    runningFolder: reader.text('svc.running.dir'),
    otlp: readOtlpTarget(reader),
    logFormat: readLogFormat(reader, inputs.stderrIsTerminal && !deployed),
    orchestrator: readOrchestratorSettings(reader),
    local,
    kubernetes,
    section,
  };
}

function creationOf(reader: SettingsReader): CreationPolicy['creation'] {
  const text = reader.text(CREATION) ?? 'anyone';
  const creation = CREATION_POLICIES.find((known) => known === text);
  if (creation === undefined)
    throw invalidSetting(CREATION, text, "'anyone', 'verified-email' or 'platform-admin'");
  return creation;
}

function allowedOriginsOf(reader: SettingsReader): readonly string[] {
  const origins = reader.list(ALLOWED_ORIGINS, [], [0, ALLOWED_ORIGINS_MAX]);
  const wrong = origins.find((origin) => originProblem(origin) !== undefined);
  if (wrong !== undefined)
    throw invalidSetting(
      ALLOWED_ORIGINS,
      wrong,
      'origins as browsers send them, such as https://console.example.com, with commas between',
    );
  return origins;
}

function signupUrlOf(reader: SettingsReader): string | undefined {
  const text = reader.text(SIGNUP_URL);
  if (text === undefined) return undefined;
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalidSetting(SIGNUP_URL, text, 'a URL with http or https');
  return text;
}
