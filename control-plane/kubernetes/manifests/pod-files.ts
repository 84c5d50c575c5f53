// PodFiles: the volumes of a pod, and where its containers have them. Secrets are files, not variables, wherever a program of the platform
// reads them, so that a change reaches it without a restart.
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation, ProvisionedDatabases } from './installation.ts';
import type { JournalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';
import {
  CONFIGURATION_KEY,
  configurationSecretName,
  databaseName,
  IDENTITY_KEYS,
  identitySecretName,
  JOURNAL_VOLUME,
  PROJECT_SECRETS,
  SUPPLIED_AUTHORITY_KEY,
  SUPPLIED_URL_KEY,
} from './object-names.ts';

/** Where the image of svc and programs with the runtime in them have their data. */
export const DATA_FOLDER = '/data';
/** Folder into which the image of a module copies it, and from which a deployed runtime loads it. */
const MODULE_FOLDER = '/service';
export const IDENTITY_FOLDER = '/etc/svc/identity';
export const SECRETS_FOLDER = '/etc/svc/secrets';
const CONFIGURATION_FOLDER = '/etc/svc/configuration';
export const CONFIGURATION_FILE = `${CONFIGURATION_FOLDER}/${CONFIGURATION_KEY}`;
const DATABASE_FOLDER = '/etc/svc/database';
const URL_NAME = 'url';
const AUTHORITY_NAME = 'ca.crt';
export const DATABASE_URL_FILE = `${DATABASE_FOLDER}/${URL_NAME}`;
export const DATABASE_AUTHORITIES_FILE = `${DATABASE_FOLDER}/${AUTHORITY_NAME}`;

/** Read by the owner and by the group of the pod: 0440. */
const SECRET_MODE = 0o440;
/** Size of a program's temporary files, which are in memory. */
const TEMPORARY_SIZE = '64Mi';
/** Room for the largest module that an image may have, which is 64 MiB. */
const MODULE_SIZE = '128Mi';

/** A volume, and how a container has it. A volume without a source is a claim of the StatefulSet. */
export interface PodFile {
  readonly volume: JsonObject | undefined;
  readonly mount: JsonObject;
}

export function identityFiles({ key }: DesiredService): PodFile {
  const items = IDENTITY_KEYS.map((file) => ({ key: file, path: file }));
  return secretFiles('identity', IDENTITY_FOLDER, {
    secretName: identitySecretName(key),
    items,
  });
}

/** Secrets that modules declare. A project without any needs no secret. */
export function projectSecretFiles(): PodFile {
  return secretFiles('secrets', SECRETS_FOLDER, { secretName: PROJECT_SECRETS, optional: true });
}

export function configurationFiles({ key }: DesiredService): PodFile {
  return secretFiles('configuration', CONFIGURATION_FOLDER, {
    secretName: configurationSecretName(key),
  });
}

/**
 * Returns the files of the service's database: its URL, and the authority of its server's certificate. In a secret of the operator there
 * may be one, which the URL names. Nothing else of the secrets is mounted, such as the key of the authority.
 */
export function databaseFiles(
  { key, descriptor: { database } }: DesiredService,
  { databases }: Pick<KubernetesInstallation, 'databases'>,
): PodFile {
  const sources =
    database === undefined
      ? provisionedFiles(databaseName(key), databases!)
      : [
          keyOfSecret(database.urlFrom, SUPPLIED_URL_KEY, URL_NAME),
          keyOfSecret(database.urlFrom, SUPPLIED_AUTHORITY_KEY, AUTHORITY_NAME, true),
        ];
  return {
    volume: { name: 'database', projected: { sources, defaultMode: SECRET_MODE } },
    mount: { name: 'database', mountPath: DATABASE_FOLDER, readOnly: true },
  };
}

function provisionedFiles(
  name: string,
  { secretSuffix, urlKey, authority }: ProvisionedDatabases,
): readonly JsonObject[] {
  return [
    keyOfSecret(`${name}${secretSuffix}`, urlKey, URL_NAME),
    ...(authority === undefined
      ? []
      : [keyOfSecret(`${name}${authority.secretSuffix}`, authority.key, AUTHORITY_NAME)]),
  ];
}

/** Returns one key of a secret as a file. */
function keyOfSecret(name: string, key: string, path: string, isOptional = false): JsonObject {
  return {
    secret: { name, items: [{ key, path }], ...(isOptional ? { optional: true } : {}) },
  };
}

/** Returns the data of a runtime. With a database a pod keeps there what only it needs. */
export function dataFiles(storage: JournalStorage): PodFile {
  return {
    volume: storage === 'volume' ? undefined : { name: JOURNAL_VOLUME, emptyDir: {} },
    mount: { name: JOURNAL_VOLUME, mountPath: DATA_FOLDER },
  };
}

export function temporaryFiles(): PodFile {
  return {
    volume: { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: TEMPORARY_SIZE } },
    mount: { name: 'tmp', mountPath: '/tmp' },
  };
}

/** Returns the module, as the runtime has it, and as the container has it that brings it. */
export function moduleFiles(): PodFile & { readonly writable: JsonObject } {
  const mount = { name: 'module', mountPath: MODULE_FOLDER };
  return {
    volume: { name: 'module', emptyDir: { sizeLimit: MODULE_SIZE } },
    mount: { ...mount, readOnly: true },
    writable: mount,
  };
}

function secretFiles(name: string, mountPath: string, source: JsonObject): PodFile {
  return {
    volume: { name, secret: { ...source, defaultMode: SECRET_MODE } },
    mount: { name, mountPath, readOnly: true },
  };
}
