// IdentitySettings: the settings svc.identity.* and svc.project, with which a program listens with mutual TLS. They are set together or not at all, because a part
// of them would leave open who a caller is.
import { isProjectId, isServiceName } from '@svc/client';
import type { CallerRules } from './caller.ts';
import { isTrustDomain, parseSpiffeId, serviceId } from './spiffe-id.ts';
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { resolve } from 'node:path';

export interface IdentitySettings {
  /** Absolute path of the folder with tls.crt, tls.key and ca.crt. */
  readonly folder: string;
  /** The service's own project. */
  readonly project: string;
  readonly rules: CallerRules;
  /** SPIFFE ID of the service. */
  readonly ownId: string;
}

const FOLDER = 'svc.identity.folder';
const TRUST_DOMAIN = 'svc.identity.trust-domain';
const GATEWAY = 'svc.identity.gateway';
const PROJECT = 'svc.project';
export const IDENTITY_NAMES: readonly string[] = [FOLDER, TRUST_DOMAIN, GATEWAY, PROJECT];

/** Reads the settings of the service with the name; undefined if none is set. Throws SVC_SETTING_INVALID. */
export function readIdentity(reader: SettingsReader, name: string): IdentitySettings | undefined {
  const values = IDENTITY_NAMES.map((dotted) => reader.text(dotted));
  if (values.every((value) => value === undefined)) return undefined;
  const missing = IDENTITY_NAMES.filter((_dotted, index) => values[index] === undefined);
  if (missing.length > 0)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${missing.join(' and ')} must be set as well: ${IDENTITY_NAMES.join(', ')} are set together. docs/reference/identity.md explains them.`,
    );
  const [folder, trustDomain, gatewayId, project] = values as [string, string, string, string];
  if (!isTrustDomain(trustDomain))
    throw invalidSetting(TRUST_DOMAIN, trustDomain, 'a trust domain, such as example.org');
  if (parseSpiffeId(gatewayId) === undefined)
    throw invalidSetting(GATEWAY, gatewayId, 'a SPIFFE ID, such as spiffe://example.org/gateway');
  if (!isProjectId(project))
    throw invalidSetting(PROJECT, project, 'lower-case letters, digits and hyphens, at most 57');
  if (!isServiceName(name))
    throw invalidSetting('svc.name', name, 'a name that begins with a letter');
  return {
    folder: resolve(folder),
    project,
    rules: { trustDomain, gatewayId },
    ownId: serviceId(trustDomain, { project, service: name }),
  };
}
