// svc new: creates a small project that builds, passes its tests and runs. It is a copy of template/, whose files are
// complete except for placeholders in double braces, `{{name}}`. Existing files are not overwritten.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isServiceName } from '@svc/client';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { checkoutFolder, templateFolder } from '../installation.ts';
import { printable } from '@svc/kit/printable';
import { shellWord } from '../shell-word.ts';
import { errorStyle } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { version } from '../version.ts';

/** Names of packages that every project depends on: npm installs no package into a project of the same name. */
const TAKEN = new Set(['node', 'vitest']);
/** Files and folders that the project's folder may already contain, because a new repository has them. */
const NOT_IN_THE_WAY = new Set(['.git']);
/** Maximum number of existing files that a message names. */
const NAMED_MAX = 5;
/** Name of a file in the template → its name in the project. npm leaves files named `.gitignore` out of a package. */
const STORED_NAMES: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

export const newProject = command(
  {
    name: 'new',
    summary: 'make a small project: an entity, an endpoint, a test',
    about: `Makes a small project that builds, passes its tests and runs: an entity, an endpoint, a test with
the test kit, a README. The folder is made, or is empty; its name is the name of the project.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: {},
    examples: ['svc new my-service', 'mkdir my-service && cd my-service && svc new .'],
  },
  async ([dir]) => {
    const folder = resolve(dir!);
    const name = projectName(folder);
    makeFolder(folder);
    const values = { name, ...packageVersions(realpathSync(folder)) };
    for (const file of filesUnder(templateFolder())) copy(file, folder, values);
    process.stderr.write(nextSteps(name, relative(process.cwd(), folder)));
    return EXIT_CODE.ok;
  },
);

/** Returns the name of the project. Throws UsageError if the folder's name is not valid. */
function projectName(folder: string): string {
  const name = basename(folder);
  // The project's name is also a package's name, for which npm's rules are looser.
  if (isServiceName(name) && !TAKEN.has(name)) return name;
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 50)
    .replace(/-+$/, '');
  const isName = isServiceName(plain) && !TAKEN.has(plain);
  const suggestion = isName ? plain : `my-${plain || 'service'}`;
  const reason = TAKEN.has(name)
    ? 'is the name of a package that every project uses'
    : 'is no name for a service: a letter first, then lower-case letters, digits and hyphens between them, at most 63';
  throw new UsageError(
    `new takes the project's name from the folder, and '${name}' ${reason}. Did you mean '${suggestion}'?`,
  );
}

function makeFolder(folder: string): void {
  let found: string[];
  try {
    makeMissing(folder);
    found = readdirSync(folder)
      .filter((file) => !NOT_IN_THE_WAY.has(file))
      .toSorted();
  } catch (error) {
    throw failure(folder, error);
  }
  if (found.length === 0) return;
  const named = found.slice(0, NAMED_MAX).map((file) => `'${file}'`);
  const others = found.length - named.length;
  throw new CommandFailure(
    'SVC_NEW_FAILED',
    `The folder ${folder} is not empty: it has ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}. ` +
      'Name a folder that does not exist or is empty.',
  );
}

/**
 * Creates missing folders one by one: `mkdirSync` with `recursive` never returns for a folder that cannot be created
 * at all, such as one under /proc.
 */
function makeMissing(folder: string): void {
  if (existsSync(folder)) return;
  makeMissing(dirname(folder));
  mkdirSync(folder);
}

/**
 * Returns the versions of svc's packages for the project's package.json: in a checkout, links to its folders;
 * otherwise the version of this package.
 */
function packageVersions(folder: string): Readonly<Record<string, string>> {
  const checkout = checkoutFolder();
  const specification = (workspace: string) =>
    checkout === undefined
      ? version
      : `file:${relative(folder, join(realpathSync(checkout), workspace)).replaceAll(sep, '/')}`;
  return { cli: specification('cli'), 'guest-sdk': specification('guest-sdk') };
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function copy(file: string, folder: string, values: Readonly<Record<string, string>>): void {
  const text = readFileSync(join(templateFolder(), file), 'utf8').replaceAll(
    /\{\{([a-z-]+)\}\}/g,
    (_placeholder, key: string) => values[key]!,
  );
  const target = join(folder, dirname(file), STORED_NAMES[basename(file)] ?? basename(file));
  try {
    makeMissing(dirname(target));
    writeFileSync(target, text, { flag: 'wx' });
  } catch (error) {
    throw failure(folder, error);
  }
}

function failure(folder: string, cause: unknown): CommandFailure {
  return new CommandFailure(
    'SVC_NEW_FAILED',
    `The project cannot be written to ${folder} (${(cause as NodeJS.ErrnoException).code}). ` +
      'Name a folder that this user may write.',
    { cause },
  );
}

function nextSteps(name: string, path: string): string {
  const enter = path === '' ? '' : `cd ${shellWord(printable(path))} && `;
  const steps = [
    [`${enter}npm install`, ''],
    ['npm test', 'the module in the sandbox, without a server'],
    ['npm run dev', 'http://127.0.0.1:9000, and each change at once'],
    ['npx svc console', 'what it does, in a browser'],
  ] as const;
  const width = Math.max(...steps.map(([step]) => step.length));
  return [
    `${printable(name)} is made. Next:\n`,
    ...steps.map(
      ([step, meaning]) =>
        `  ${errorStyle('bold', meaning === '' ? step : step.padEnd(width))}${meaning === '' ? '' : `   ${errorStyle('dim', meaning)}`}`,
    ),
    '',
  ].join('\n');
}
