// InstallationFiles: what the operator describes in files in YAML or JSON: how the cluster makes databases, and the annotations of Ingresses.
import { readFileSync, statSync } from 'node:fs';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { LineCounter, parseDocument } from 'yaml';
import type { DatabaseAuthority, ProvisionedDatabases } from './manifests/installation.ts';
import type { JsonObject } from './manifests/manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

const FILE_BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;
const TEXTS_OF_DATABASES = ['apiVersion', 'kind', 'secretSuffix', 'urlKey'] as const;
const NAME_LENGTH: readonly [number, number] = [10, 253];

/** Throws SVC_SETTING_INVALID. */
export function readDatabasesFile(file: string): ProvisionedDatabases {
  const fail = failure('svc.kubernetes.databases-file', file);
  const { spec, nameLengthMax, authority, ...others } = fieldsIn(file, fail);
  const known: ReadonlySet<string> = new Set(TEXTS_OF_DATABASES);
  const unknown = Object.keys(others).find((name) => !known.has(name));
  if (unknown !== undefined) fail(`has the unknown field ${JSON.stringify(unknown)}`);
  const missing = TEXTS_OF_DATABASES.find((name) => !isText(others[name]));
  if (missing !== undefined) fail(`has no text \`${missing}\``);
  if (!isFields(spec)) fail('has no object `spec`');
  const [min, max] = NAME_LENGTH;
  if (
    !Number.isInteger(nameLengthMax) ||
    Number(nameLengthMax) < min ||
    Number(nameLengthMax) > max
  )
    fail(`has no \`nameLengthMax\` from ${min} to ${max}`);
  const texts = others as Readonly<Record<(typeof TEXTS_OF_DATABASES)[number], string>>;
  return {
    ...texts,
    spec: spec as JsonObject,
    nameLengthMax: nameLengthMax as number,
    authority: authority === undefined ? undefined : authorityIn(authority, fail),
  };
}

function authorityIn(value: unknown, fail: Fail): DatabaseAuthority {
  const { secretSuffix, key, ...others } = isFields(value) ? value : {};
  return isText(secretSuffix) && isText(key) && Object.keys(others).length === 0
    ? { secretSuffix, key }
    : fail('has an `authority` that is not the two texts `secretSuffix` and `key`');
}

/** Throws SVC_SETTING_INVALID. */
export function readAnnotationsFile(file: string): Readonly<Record<string, string>> {
  const fail = failure('svc.kubernetes.ingress-annotations-file', file);
  const fields = fieldsIn(file, fail);
  const wrong = Object.entries(fields).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined)
    fail(`has ${JSON.stringify(wrong[0])}, which is no text: write the value in quotation marks`);
  return fields as Readonly<Record<string, string>>;
}

type Fail = (problem: string) => never;

function failure(setting: string, file: string): Fail {
  return (problem) => {
    throw new SvcError(
      'SVC_SETTING_INVALID',
      printable(
        `The file ${file}, which the setting ${setting} names, ${problem}. docs/how-to/kubernetes.md has an example.`,
      ),
    );
  };
}

function fieldsIn(file: string, fail: Fail): Fields {
  const lineCounter = new LineCounter();
  const document = parseDocument(textOf(file, fail), { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined)
    fail(`is not YAML, which line ${lineCounter.linePos(error.pos[0]).line} shows`);
  let root: unknown;
  try {
    root = document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch {
    fail('is YAML with too many aliases');
  }
  return isFields(root) ? root : fail('has no fields');
}

function textOf(file: string, fail: Fail): string {
  try {
    if (statSync(file).size <= FILE_BYTES_MAX) return readFileSync(file, 'utf8');
  } catch (error) {
    fail(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no file'}`);
  }
  return fail(`is larger than ${FILE_BYTES_MAX} bytes`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
