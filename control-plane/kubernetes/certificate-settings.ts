// CertificateSettings: reads the settings svc.kubernetes.* that say who makes the certificates of services, and by which authority.
import { join, resolve } from 'node:path';
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';

const IDENTITIES = 'svc.kubernetes.identities';
const AUTHORITY_FOLDER = 'svc.kubernetes.authority-folder';
const NEW_AUTHORITY = 'svc.kubernetes.new-authority';
const GATEWAY_SECRET = 'svc.kubernetes.gateway-secret';

/** The dotted names of these settings. */
export const CERTIFICATE_SETTING_NAMES: readonly string[] = [
  IDENTITIES,
  AUTHORITY_FOLDER,
  NEW_AUTHORITY,
  GATEWAY_SECRET,
];

/** The authority whose certificates services get. */
export type AuthorityChoice =
  /** The control plane makes it. */
  | {
      readonly kind: 'own';
      /** Absolute path of the file with its key. */
      readonly file: string;
      /** Absolute path of the file that says whom services trust. A control plane that has it has lost the other one, and makes no other authority. */
      readonly publishedFile: string;
      /** True: the operator asks for another authority. */
      readonly isNew: boolean;
    }
  /** Its certificate and its key are `tls.crt` and `tls.key` of a folder, such as a mounted secret. */
  | {
      readonly kind: 'given';
      /** Absolute path of the folder. */
      readonly folder: string;
    };

/** Makes the certificates of services: the control plane, or the operator, with cert-manager for example. */
export type CertificateSettings =
  | {
      readonly kind: 'control-plane';
      readonly authority: AuthorityChoice;
      /** Name of the secret with the certificate of the gateway, in the namespace of the platform. */
      readonly gatewaySecret: string;
    }
  | { readonly kind: 'operator' };

const GATEWAY_SECRET_DEFAULT = 'gateway-identity';
const SECRET_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;

/** `dataFolder`: the folder of the control plane's journal; undefined: it is in a database. Throws SVC_SETTING_INVALID. */
export function readCertificateSettings(
  reader: SettingsReader,
  dataFolder: string | undefined,
): CertificateSettings {
  const maker = reader.text(IDENTITIES) ?? 'control-plane';
  if (maker === 'operator') {
    const others = CERTIFICATE_SETTING_NAMES.filter((name) => name !== IDENTITIES);
    const given = others.find((name) => reader.text(name) !== undefined);
    if (given !== undefined)
      throw invalidSetting(given, reader.text(given)!, `absent, because ${IDENTITIES} is operator`);
    return { kind: 'operator' };
  }
  if (maker !== 'control-plane')
    throw invalidSetting(IDENTITIES, maker, "'control-plane' or 'operator'");
  const gatewaySecret = reader.text(GATEWAY_SECRET) ?? GATEWAY_SECRET_DEFAULT;
  if (!SECRET_NAME.test(gatewaySecret))
    throw invalidSetting(GATEWAY_SECRET, gatewaySecret, 'the name of a secret');
  return { kind: 'control-plane', authority: authorityOf(reader, dataFolder), gatewaySecret };
}

function authorityOf(reader: SettingsReader, dataFolder: string | undefined): AuthorityChoice {
  const folder = reader.text(AUTHORITY_FOLDER);
  const isNew = reader.boolean(NEW_AUTHORITY, false);
  if (folder !== undefined) {
    if (isNew)
      throw invalidSetting(
        NEW_AUTHORITY,
        'true',
        `false, because the authority in ${AUTHORITY_FOLDER} is the operator's to replace`,
      );
    return { kind: 'given', folder: resolve(folder) };
  }
  if (dataFolder === undefined)
    throw invalidSetting(
      AUTHORITY_FOLDER,
      '',
      `a folder with tls.crt and tls.key of an authority, because the journal is in a database and there is no folder that lasts; or ${IDENTITIES}=operator`,
    );
  return {
    kind: 'own',
    file: join(dataFolder, 'authorities', 'identities.json'),
    publishedFile: join(dataFolder, 'identities.crt'),
    isNew,
  };
}
