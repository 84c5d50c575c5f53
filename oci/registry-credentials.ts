// RegistryCredentials: the names and passwords for registries in a file as Docker writes it, `config.json`. The file belongs to
// whoever runs the program; a helper that it names is not run.
import { readFile } from 'node:fs/promises';
import { ImageError } from './image-error.ts';

/** How a program shows who it is. A token goes to the registry itself, a password also to where it gives out tokens. */
export type RegistryCredentials =
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string };

/** Finds the credentials for the host of a registry, with its port; undefined: none. */
export type CredentialsOf = (
  host: string,
) => RegistryCredentials | undefined | Promise<RegistryCredentials | undefined>;

/** The name of Docker Hub in these files. */
const DOCKER_HUB_ENTRY = 'https://index.docker.io/v1/';
const DOCKER_HUB = 'docker.io';
const FILE_BYTES_MAX = 1024 * 1024;

/** Reads a file; undefined if there is none. `shown`: how messages name it. Throws SVC_REGISTRY_CREDENTIALS_INVALID. */
export async function readDockerConfig(
  file: string,
  shown = file,
): Promise<ReadonlyMap<string, RegistryCredentials> | undefined> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw invalidFile(shown, `cannot be read (${code})`, error);
  }
  if (content.length > FILE_BYTES_MAX) throw invalidFile(shown, 'is larger than 1 MiB');
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw invalidFile(shown, 'is no JSON', error);
  }
  if (!isObject(value)) throw invalidFile(shown, 'is no object of JSON');
  const { auths = {} } = value;
  if (!isObject(auths)) throw invalidFile(shown, "has 'auths' that is no object");
  const found = new Map<string, RegistryCredentials>();
  for (const [name, entry] of Object.entries(auths)) {
    const credentials = isObject(entry) ? credentialsIn(entry) : undefined;
    if (credentials === 'invalid')
      throw invalidFile(
        shown,
        `has an entry for ${JSON.stringify(name)} whose 'auth' is no name and password`,
      );
    if (credentials !== undefined) found.set(hostOfEntry(name), credentials);
  }
  return found;
}

/** An entry without a password belongs to a helper, which keeps it elsewhere. */
function credentialsIn(
  entry: Readonly<Record<string, unknown>>,
): RegistryCredentials | 'invalid' | undefined {
  const { auth, username, password, registrytoken } = entry;
  if (typeof registrytoken === 'string' && registrytoken !== '')
    return isHeaderText(registrytoken) ? { kind: 'token', token: registrytoken } : 'invalid';
  if (typeof username === 'string' && typeof password === 'string' && password !== '')
    return { kind: 'password', user: username, password };
  if (typeof auth !== 'string' || auth === '') return undefined;
  const text = Buffer.from(auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return 'invalid';
  return { kind: 'password', user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns whether a text can be a token in a header. */
export function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function hostOfEntry(name: string): string {
  if (name === DOCKER_HUB_ENTRY) return DOCKER_HUB;
  return name
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .toLowerCase();
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalidFile(file: string, what: string, cause?: unknown): ImageError {
  return new ImageError(
    'SVC_REGISTRY_CREDENTIALS_INVALID',
    `The file of credentials ${file} ${what}. Write it as docker login does, or name another one.`,
    cause === undefined ? {} : { cause },
  );
}
