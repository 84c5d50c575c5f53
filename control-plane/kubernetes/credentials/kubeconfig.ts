// Kubeconfig reads the file by which clients of Kubernetes find a cluster and their credentials. Only the entries of one context are read.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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
  const at = new FieldReader(dirname(resolve(file)), fail);
  const entries = new Entries(root, at, fail);
  const context = entries.read('contexts', name, 'svc.kubernetes.context');
  const of = `which the context ${shown(name)} names`;
  const clusterName = entries.text('contexts', name, context, 'cluster');
  const userName = entries.text('contexts', name, context, 'user');
  const cluster = entries.read('clusters', clusterName, of);
  const userFields = entries.read('users', userName, of);
  refuseFields(cluster, UNSUPPORTED_OF_CLUSTER, `the cluster ${shown(clusterName)}`, fail);
  refuseFields(userFields, UNSUPPORTED_OF_USER, `the user ${shown(userName)}`, fail);
  if (cluster['insecure-skip-tls-verify'] === true)
    fail(
      `has \`insecure-skip-tls-verify\` in the cluster ${shown(clusterName)}`,
      'Anybody could then be given the credentials: name the authority of the cluster with `certificate-authority` instead.',
    );
  const server = entries.text('clusters', clusterName, cluster, 'server').replace(/\/$/, '');
  const authority = at.pem(cluster, 'certificate-authority');
  const serverName = at.text(cluster, 'tls-server-name');
  const user = userOf(userFields, at, fail, () => ({
    server,
    'tls-server-name': serverName,
    'certificate-authority-data': cluster['certificate-authority-data'],
  }));
  checkServer(server, user, fail);
  return { source, server, authority, serverName, user, podNamespace: undefined };
}

type List = 'contexts' | 'clusters' | 'users';

/** The field of an entry that has all but its name. */
const CONTENTS = { contexts: 'context', clusters: 'cluster', users: 'user' } as const;

/** The entries of lists, found by their names. */
class Entries {
  readonly #root: Fields;
  readonly #at: FieldReader;
  readonly #fail: Fail;

  constructor(root: Fields, at: FieldReader, fail: Fail) {
    this.#root = root;
    this.#at = at;
    this.#fail = fail;
  }

  /** Returns the fields of an entry. A user may have none. `of`: where its name is from. */
  read(list: List, name: string, of: string): Fields {
    const all = Array.isArray(this.#root[list]) ? (this.#root[list] as readonly unknown[]) : [];
    const found = all.filter((entry) => isFields(entry) && entry['name'] === name);
    if (found.length !== 1)
      this.#fail(
        `has ${found.length === 0 ? 'no entry' : 'several entries'} ${shown(name)} in \`${list}\`, ${of.startsWith('svc.') ? `where ${of} or \`current-context\` looks for it` : of}`,
      );
    const contents = (found[0] as Fields)[CONTENTS[list]] ?? (list === 'users' ? {} : undefined);
    return isFields(contents) ? contents : this.#incomplete(list, name, CONTENTS[list]);
  }

  /** Returns a text that an entry has to have. */
  text(list: List, name: string, fields: Fields, field: string): string {
    return this.#at.text(fields, field) ?? this.#incomplete(list, name, field);
  }

  #incomplete(list: List, name: string, field: string): never {
    return this.#fail(
      `has an entry ${shown(name)} in \`${list}\` that is incomplete: ${field} is missing`,
    );
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

function shown(name: unknown): string {
  return JSON.stringify(String(name).slice(0, NAME_LENGTH_MAX));
}
