// Kubeconfig reads the file by which clients of Kubernetes find a cluster and their credentials. Only the entries of one context are read; the fields of an
// entry are those of @kubernetes/client-node, of which nothing else is loaded.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { newClusters, newContexts, newUsers } from '@kubernetes/client-node/dist/config_types.js';
import { isLoopbackHost } from '@svc/kit/loopback-host';
import { LineCounter, parseDocument } from 'yaml';
import type { AccessUser, ClusterAccess, PemSource } from './cluster-access.ts';
import { credentialCommand } from './credential-command.ts';
import { type Fail, type Fields, isFields, unusableAccess } from './unusable-access.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;
const PEM_BEGIN = '-----BEGIN ';
const NAME_LENGTH_MAX = 200;
/** Fields by which requests would be sent in a way that svc does not send them. */
const UNSUPPORTED_OF_CLUSTER = ['proxy-url'];
const UNSUPPORTED_OF_USER = ['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups'];
const CHECK = 'Check the file with `kubectl --kubeconfig FILE version`';

/** `contextName`: undefined: the current context of the file. Throws SVC_KUBECONFIG_UNUSABLE. */
export function readKubeconfig(file: string, contextName: string | undefined): ClusterAccess {
  const source = `The kubeconfig ${file}`;
  const fail: Fail = (problem, remedy = `${CHECK}.`, cause) => {
    throw unusableAccess(source, problem, remedy, cause);
  };
  const root = rootOf(textOf(file, fail), fail);
  const name = contextName ?? root['current-context'];
  if (typeof name !== 'string' || name === '')
    fail(
      'has no current context',
      'Name one of its contexts with svc.kubernetes.context, or set it with `kubectl config use-context`.',
    );
  const entries = new Entries(root, fail);
  const [context] = entries.read('contexts', name, 'svc.kubernetes.context', newContexts);
  const of = `which the context ${shown(name)} names`;
  const [cluster, clusterEntry] = entries.read('clusters', context.cluster, of, newClusters);
  const [, userEntry] = entries.read('users', context.user, of, newUsers);
  const clusterFields = fieldsIn(clusterEntry, 'cluster');
  const userFields = fieldsIn(userEntry, 'user');
  refuseFields(clusterFields, UNSUPPORTED_OF_CLUSTER, `the cluster ${shown(cluster.name)}`, fail);
  refuseFields(userFields, UNSUPPORTED_OF_USER, `the user ${shown(context.user)}`, fail);
  if (cluster.skipTLSVerify)
    fail(
      `has \`insecure-skip-tls-verify\` in the cluster ${shown(cluster.name)}`,
      'Anybody could then be given the credentials: name the authority of the cluster with `certificate-authority` instead.',
    );
  const folder = dirname(resolve(file));
  const at = new FieldReader(folder, fail);
  const authority = at.pem(clusterFields, 'certificate-authority');
  const serverName = cluster.tlsServerName;
  const user = userOf(userFields, at, fail, () => ({
    server: cluster.server,
    'tls-server-name': serverName,
    'certificate-authority-data': clusterFields['certificate-authority-data'],
  }));
  checkServer(cluster.server, user, fail);
  return { source, server: cluster.server, authority, serverName, user, podNamespace: undefined };
}

/** The entries of lists, found by their names. */
class Entries {
  readonly #root: Fields;
  readonly #fail: Fail;

  constructor(root: Fields, fail: Fail) {
    this.#root = root;
    this.#fail = fail;
  }

  /** Returns the entry as the library reads it, and as it is. `of`: where its name is from. */
  read<Entry>(
    list: 'contexts' | 'clusters' | 'users',
    name: string,
    of: string,
    parse: (entries: readonly unknown[]) => Entry[],
  ): readonly [Entry, Fields] {
    const all = Array.isArray(this.#root[list]) ? (this.#root[list] as readonly unknown[]) : [];
    const found = all.filter((entry) => isFields(entry) && entry['name'] === name);
    if (found.length !== 1)
      this.#fail(
        `has ${found.length === 0 ? 'no entry' : 'several entries'} ${shown(name)} in \`${list}\`, ${of.startsWith('svc.') ? `where ${of} or \`current-context\` looks for it` : of}`,
      );
    const entry = found[0] as Fields;
    try {
      const parsed = parse([withoutFiles(entry)])[0];
      if (parsed !== undefined) return [parsed, entry];
    } catch (error) {
      // The words are those of the library about the one entry that it was given: `clusters[0].cluster.server is missing`.
      const words = error instanceof TypeError ? 'has another form' : (error as Error).message;
      this.#fail(
        `has an entry ${shown(name)} in \`${list}\` that is incomplete: ${words}`,
        `${CHECK}.`,
        error,
      );
    }
    return this.#fail(`has an entry ${shown(name)} in \`${list}\` that is incomplete`);
  }
}

/** Reads fields of an entry, whose files are relative to the kubeconfig. */
class FieldReader {
  readonly #folder: string;
  readonly #fail: Fail;

  constructor(folder: string, fail: Fail) {
    this.#folder = folder;
    this.#fail = fail;
  }

  get folder(): string {
    return this.#folder;
  }

  text(fields: Fields, name: string): string | undefined {
    const value = fields[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') this.#fail(`has a \`${name}\` that is no text`);
    return value;
  }

  file(fields: Fields, name: string): string | undefined {
    const path = this.text(fields, name);
    return path === undefined ? undefined : resolve(this.#folder, path);
  }

  /** Reads a certificate or a key: `NAME-data` counts before the file of `NAME`. */
  pem(fields: Fields, name: string): PemSource | undefined {
    const data = this.text(fields, `${name}-data`);
    const file = this.file(fields, name);
    if (data === undefined) return file === undefined ? undefined : { file };
    const pem = Buffer.from(data, 'base64').toString('utf8');
    if (!pem.includes(PEM_BEGIN))
      this.#fail(`has a \`${name}-data\` that is no PEM text in base64`);
    return { pem };
  }
}

function userOf(fields: Fields, at: FieldReader, fail: Fail, cluster: () => Fields): AccessUser {
  const certificate = at.pem(fields, 'client-certificate');
  const key = at.pem(fields, 'client-key');
  if ((certificate === undefined) !== (key === undefined))
    fail('has a client certificate without its key, or a key without its certificate');
  return {
    token: at.text(fields, 'token'),
    tokenFile: at.file(fields, 'tokenFile') ?? at.file(fields, 'token-file'),
    pair: certificate === undefined || key === undefined ? undefined : { certificate, key },
    plugin: credentialCommand(fields['exec'], at.folder, cluster, fail),
  };
}

function checkServer(server: string, user: AccessUser, fail: Fail): void {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    fail('names a server that is no URL with https');
  if (url.protocol === 'https:') return;
  if (Object.values(user).some((credential) => credential !== undefined))
    fail(
      `names the server ${url.origin}, to which credentials would be sent without TLS`,
      'Give the URL of the server with https.',
    );
  if (!isLoopbackHost(url.hostname.replaceAll(/[[\]]/g, '')))
    fail(
      `names the server ${url.origin}, to which secrets of services would be sent without TLS`,
      'Give the URL of the server with https. Without TLS it has to be on this machine, as `kubectl proxy` is.',
    );
}

function textOf(file: string, fail: Fail): string {
  try {
    if (statSync(file).size <= FILE_BYTES_MAX) return readFileSync(file, 'utf8');
  } catch (error) {
    fail(
      `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no file'}`,
      'Set svc.kubernetes.kubeconfig to a file that the user of the control plane may read.',
      error,
    );
  }
  return fail(`is larger than ${FILE_BYTES_MAX} bytes`);
}

function rootOf(text: string, fail: Fail): Fields {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  // The words of the parser could quote a secret.
  if (error !== undefined)
    fail(`is not YAML, which line ${lineCounter.linePos(error.pos[0]).line} shows`);
  let root: unknown;
  try {
    root = document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (cause) {
    fail('is YAML with too many aliases', `${CHECK}.`, cause);
  }
  if (!isFields(root)) fail('is no kubeconfig: it has no fields');
  return root;
}

function refuseFields(fields: Fields, names: readonly string[], where: string, fail: Fail): void {
  const found = names.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (found !== undefined)
    fail(
      `has \`${found}\` in ${where}, which svc does not support`,
      'Give the user a token, a client certificate, or a credential plugin (`exec`).',
    );
}

/** The library would read a file of the token, relative to the working folder. */
function withoutFiles(entry: Fields): Fields {
  const user = entry['user'];
  return isFields(user) ? { ...entry, user: { ...user, 'token-file': undefined } } : entry;
}

function fieldsIn(entry: Fields, name: string): Fields {
  const value = entry[name];
  return isFields(value) ? value : {};
}

function shown(name: unknown): string {
  return JSON.stringify(String(name).slice(0, NAME_LENGTH_MAX));
}
