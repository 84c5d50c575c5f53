// svc new: creates a small project that passes its tests and runs. It is a copy of a folder of template/, whose files are
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

/** Names of packages that projects depend on: npm installs no package into a project of the same name. */
const TAKEN = new Set(['node', 'typebox', 'vitest']);
/** Languages of code in a process of its own; each has a template. */
const LANGUAGES = ['typescript', 'python'] as const;
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
    about: `Makes a small project that passes its tests and runs: an entity, an endpoint, a test with
the test kit, a README. The folder is made, or is empty; its name is the name of the project.
The code is a module in AssemblyScript, which the runtime runs in a sandbox, or with --process that
of a process of its own.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: {
      process: {
        type: 'string',
        value: 'LANGUAGE',
        help: `typescript or python: the code is in a process of its own, which
the runtime calls, and which has no sandbox`,
        completes: { kind: 'choices', choices: LANGUAGES },
      },
    },
    examples: [
      'svc new my-service',
      'svc new --process python my-service',
      'mkdir my-service && cd my-service && svc new .',
    ],
  },
  async ([dir], { process: language }) => {
    const folder = resolve(dir!);
    const name = projectName(folder);
    makeFolder(folder);
    const values = { name, ...packageVersions(realpathSync(folder)) };
    const template = templateFolder(language === undefined ? 'module' : `process-${language}`);
    for (const file of filesUnder(template)) copy(join(template, file), join(folder, file), values);
    const enter = enterCommand(relative(process.cwd(), folder));
    const steps =
      language === 'python' ? pythonSteps(enter) : npmSteps(enter, language !== undefined);
    process.stderr.write(nextSteps(name, steps));
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
    ? 'is the name of a package that projects use'
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
 * Returns the versions of svc's packages for the project: in a checkout, links to its folders; otherwise the version of
 * this package.
 */
function packageVersions(folder: string): Readonly<Record<string, string>> {
  const checkout = checkoutFolder();
  const path = (workspace: string) =>
    checkout === undefined
      ? undefined
      : relative(folder, join(realpathSync(checkout), workspace)).replaceAll(sep, '/');
  const specification = (workspace: string) => {
    const link = path(workspace);
    return link === undefined ? version : `file:${link}`;
  };
  return {
    cli: specification('cli'),
    'guest-sdk': specification('guest-sdk'),
    host: specification('host'),
    process: specification('process-sdk/typescript'),
    'svc-process': path('process-sdk/python') ?? `svc-process==${version}`,
  };
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Copies a file of a template. `path`: of the copy, whose name may be another one. */
function copy(file: string, path: string, values: Readonly<Record<string, string>>): void {
  const text = readFileSync(file, 'utf8').replaceAll(
    /\{\{([a-z-]+)\}\}/g,
    (_placeholder, key: string) => values[key]!,
  );
  const target = join(dirname(path), STORED_NAMES[basename(path)] ?? basename(path));
  try {
    makeMissing(dirname(target));
    writeFileSync(target, text, { flag: 'wx' });
  } catch (error) {
    throw failure(dirname(path), error);
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

/** Returns what a command line begins with that has to run in the folder. */
function enterCommand(path: string): string {
  return path === '' ? '' : `cd ${shellWord(printable(path))} && `;
}

/** A command, and its meaning; empty where the command says it. */
type Step = readonly [command: string, meaning: string];

function npmSteps(enter: string, isProcess: boolean): readonly Step[] {
  const tested = isProcess
    ? 'the components, without a server'
    : 'the module in the sandbox, without a server';
  return [
    [`${enter}npm install`, ''],
    ['npm test', tested],
    ['npm run dev', 'http://127.0.0.1:9000, and each change at once'],
    ['npx svc console', 'what it does, in a browser'],
  ];
}

function pythonSteps(enter: string): readonly Step[] {
  return [
    [`${enter}python3 -m venv .venv`, ''],
    ['.venv/bin/pip install -r requirements.txt', ''],
    ['.venv/bin/python -m unittest', 'the components, without a server'],
    [
      "svc dev --process-command '.venv/bin/python main.py'",
      'http://127.0.0.1:9000, and each change at once',
    ],
  ];
}

function nextSteps(name: string, steps: readonly Step[]): string {
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
