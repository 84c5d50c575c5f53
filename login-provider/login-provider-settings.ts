// LoginProviderSettings: the flags and settings of `svc login-provider` (@svc/kit/settings-reader defines how they are given). No
// other file of the login provider reads flags or settings.
import type { ServerCertificateFiles } from '@svc/identity/server-certificate';
import { isLoopbackHost } from '@svc/kit/loopback-host';
import { type ProgramInputs, readLogFormat, readProgramFlags } from '@svc/kit/program-flags';
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { join, resolve } from 'node:path';
import {
  LOGIN_PROVIDER_DEFAULTS,
  LOGIN_PROVIDER_RANGES,
  type LoginProviderSection,
} from './login-provider-section.ts';

export interface LoginProviderSettings {
  /** Absolute path of the file of people and machines. */
  readonly peopleFile: string;
  /** The `aud` of access tokens: an absolute URI. */
  readonly audience: string;
  /** Origin under which clients reach the provider, without a slash at the end; undefined: the address that it listens on. */
  readonly issuer: string | undefined;
  /** Absolute path of the folder with the keys. */
  readonly dataFolder: string;
  /** A loopback address, or `localhost`. */
  readonly host: string;
  /** Undefined: it is served without TLS. */
  readonly tls: ServerCertificateFiles | undefined;
  readonly logFormat: 'text' | 'json';
  readonly section: LoginProviderSection;
}

const FLAGS = {
  people: { type: 'string', dotted: 'svc.login-provider.people' },
  audience: { type: 'string', dotted: 'svc.login-provider.audience' },
  port: { type: 'string', dotted: 'svc.login-provider.port' },
  host: { type: 'string', dotted: 'svc.login-provider.host' },
  data: { type: 'string', dotted: 'svc.data' },
  log: { type: 'string', dotted: 'svc.log' },
} as const;
/** The options of `svc login-provider`. */
export const LOGIN_PROVIDER_OPTIONS: readonly string[] = [...Object.keys(FLAGS), 'set'];

const ISSUER = 'svc.login-provider.issuer';
const CERTIFICATE = 'svc.login-provider.tls-certificate';
const KEY = 'svc.login-provider.tls-key';
const SECTIONS = { 'login-provider': { ...LOGIN_PROVIDER_DEFAULTS } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = { 'login-provider': LOGIN_PROVIDER_RANGES };
const NAMES: readonly string[] = [
  ...Object.values(FLAGS).map(({ dotted }) => dotted),
  ...sectionNames(SECTIONS),
  ISSUER,
  CERTIFICATE,
  KEY,
];

/** Throws SVC_USAGE for invalid flags and SVC_SETTING_INVALID for invalid values. */
export function readLoginProviderSettings(inputs: ProgramInputs): LoginProviderSettings {
  const { given } = readProgramFlags('login-provider', inputs.args, FLAGS);
  const reader = new SettingsReader(given, inputs.env);
  reader.checkNames(new Set(NAMES));
  return {
    peopleFile: resolve(
      required(reader, FLAGS.people.dotted, 'the file of people who can log in, in YAML or JSON'),
    ),
    audience: audienceOf(reader),
    issuer: issuerOf(reader),
    dataFolder: resolve(reader.text('svc.data') ?? join('.svc', 'login-provider')),
    host: hostOf(reader),
    tls: tlsOf(reader),
    logFormat: readLogFormat(reader, inputs.stderrIsTerminal),
    section: reader.sections(SECTIONS, SECTION_RANGES)['login-provider'],
  };
}

/** A client that reaches the provider can be anybody, so only those on this machine may. */
function hostOf(reader: SettingsReader): string {
  const host = reader.text(FLAGS.host.dotted) ?? '127.0.0.1';
  if (isLoopbackHost(host)) return host;
  throw invalidSetting(
    FLAGS.host.dotted,
    host,
    'a loopback address such as 127.0.0.1, because this provider asks for no password',
  );
}

function tlsOf(reader: SettingsReader): ServerCertificateFiles | undefined {
  const certificate = reader.text(CERTIFICATE);
  const key = reader.text(KEY);
  if (certificate !== undefined && key !== undefined)
    return { certificate: resolve(certificate), key: resolve(key) };
  if (certificate === undefined && key === undefined) return undefined;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The settings ${CERTIFICATE} and ${KEY} belong together, and only one of them is given.`,
  );
}

/** A resource indicator is an absolute URI without a fragment (RFC 8707, section 2). */
function audienceOf(reader: SettingsReader): string {
  const { dotted } = FLAGS.audience;
  const audience = required(
    reader,
    dotted,
    'the audience of access tokens, as in svc.auth.audience of the control plane',
  );
  if (!/^[\x21-\x7e]+$/.test(audience) || audience.includes('#') || !URL.canParse(audience))
    throw invalidSetting(dotted, audience, 'an absolute URI such as https://api.example.org');
  return audience;
}

/** The control plane compares issuers to the letter, so the issuer is a bare origin and has no other form. */
function issuerOf(reader: SettingsReader): string | undefined {
  const issuer = reader.text(ISSUER);
  if (issuer === undefined) return undefined;
  const url = URL.parse(issuer);
  const isSafe = url?.protocol === 'https:' || isLoopbackHost(url?.hostname ?? '');
  if (url === null || url.origin !== issuer || !isSafe)
    throw invalidSetting(
      ISSUER,
      issuer,
      'an origin such as https://login.svc.localhost:8443, or one with http on a loopback address',
    );
  return issuer;
}

function required(reader: SettingsReader, dotted: string, what: string): string {
  const value = reader.text(dotted);
  if (value !== undefined) return value;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${dotted} is missing: ${what}. docs/how-to/logging-in-for-development.md explains it.`,
  );
}
