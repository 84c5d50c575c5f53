// The classes of workspaces and what each class may import of the others. Workspaces import one another by the names of
// their packages, never by a path.
import type { WorkspaceFolder } from '../../scripts/workspaces.ts';
import { cyclesOf } from './cycles.ts';
import type { Import } from './source-tree.ts';

/**
 * - `words`: the platform's words and their rules, without any dependency, for programs of others as well.
 * - `contract`: the words that all share.
 * - `package`: a library.
 * - `kit`: what programs share; no library needs it.
 * - `shared`: a library that needs the kit.
 * - `engine`: the runtime, which programs embed.
 * - `embedding`: a library for programs that embed the runtime.
 * - `sdk`: what authors of modules have.
 * - `process-sdk`: what authors of processes have.
 * - `program`: has a process of its own.
 * - `launcher`: starts programs.
 * - `example`: shows how the published packages are used.
 */
export type WorkspaceClass =
  | 'words'
  | 'contract'
  | 'package'
  | 'kit'
  | 'shared'
  | 'engine'
  | 'embedding'
  | 'sdk'
  | 'process-sdk'
  | 'program'
  | 'launcher'
  | 'example';

export interface Workspace {
  readonly folder: string;
  /** The name of its package. */
  readonly name: string;
  /** Undefined: neither the package.json nor the defaults name a class that exists. */
  readonly class: WorkspaceClass | undefined;
  /** The packages that its package.json asks for. */
  readonly dependencies: readonly string[];
}

/**
 * A class and the classes that it may import. A cycle can arise only within a class that may import itself, and
 * workspaceCycles() finds it.
 */
const MAY_USE: Readonly<Record<WorkspaceClass, readonly WorkspaceClass[]>> = {
  words: [],
  contract: ['words'],
  package: ['words', 'contract', 'package'],
  kit: ['words', 'contract', 'package'],
  shared: ['words', 'contract', 'package', 'kit', 'shared'],
  engine: ['words', 'contract', 'package', 'kit', 'shared'],
  embedding: ['words', 'contract', 'package', 'kit', 'shared', 'engine', 'embedding'],
  sdk: ['words', 'contract', 'engine'],
  'process-sdk': ['words', 'contract', 'package', 'kit', 'shared'],
  program: ['words', 'contract', 'package', 'kit', 'shared', 'engine', 'embedding'],
  launcher: [
    'words',
    'contract',
    'package',
    'kit',
    'shared',
    'engine',
    'sdk',
    'process-sdk',
    'program',
  ],
  example: ['sdk', 'process-sdk', 'engine'],
};
/** The class of a workspace whose package.json declares none, by its folder. */
const DEFAULT_CLASS: Readonly<Record<string, WorkspaceClass>> = {
  client: 'words',
  contract: 'contract',
  http1: 'package',
  identity: 'shared',
  forward: 'shared',
  auth: 'package',
  routing: 'package',
  kit: 'kit',
  host: 'engine',
  'guest-sdk': 'sdk',
  cli: 'launcher',
  console: 'program',
  proxy: 'program',
  gateway: 'program',
  'control-plane': 'program',
  'login-provider': 'program',
  orchestrator: 'program',
  webhooks: 'program',
};
/** Folders that may import less than the workspace that they are in. */
const NARROWER: Readonly<Record<string, readonly WorkspaceClass[]>> = {
  // AssemblyScript.
  'guest-sdk/assembly': [],
  'guest-sdk/compiler': ['words', 'contract'],
  'console/page': ['words', 'contract'],
};

export function workspaceOf({ folder, manifest }: WorkspaceFolder): Workspace {
  const declared = manifest.svc?.class;
  const byDefault = folder.startsWith('examples/') ? 'example' : DEFAULT_CLASS[folder];
  return {
    folder,
    name: manifest.name,
    class: declared === undefined ? byDefault : isClass(declared) ? declared : undefined,
    dependencies: [
      ...Object.keys(manifest.dependencies ?? {}),
      ...Object.keys(manifest.devDependencies ?? {}),
      ...Object.keys(manifest.peerDependencies ?? {}),
    ],
  };
}

function isClass(word: string): word is WorkspaceClass {
  return Object.hasOwn(MAY_USE, word);
}

/** A line for each workspace without a class. */
export function withoutClass(workspaces: readonly Workspace[]): string[] {
  const classes = Object.keys(MAY_USE).join(', ');
  return workspaces
    .filter((workspace) => workspace.class === undefined)
    .map(
      ({ folder }) =>
        `${folder}/ has no class: add "svc": { "class": "…" } to ${folder}/package.json, where the class is one of ${classes} (test/architecture/workspaces.ts says what each may import)`,
    );
}

/** A line for each cycle of workspaces whose package.json files ask for one another. */
export function workspaceCycles(workspaces: readonly Workspace[]): string[] {
  const needs = new Map(workspaces.map(({ name, dependencies }) => [name, dependencies]));
  return cyclesOf([...needs.keys()], (name) => needs.get(name)!.filter((need) => needs.has(need)));
}

/** A line for each import that leads from a workspace into another and may not. */
export function forbiddenUses(
  imports: readonly Import[],
  workspaces: readonly Workspace[],
): string[] {
  const around = (file: string) => workspaces.find(({ folder }) => file.startsWith(`${folder}/`));
  return imports.flatMap(({ from, to, isPackage }) => {
    // A template is a project of its own, whose package.json names what it imports.
    const own = from.startsWith('cli/template/') ? undefined : around(from);
    const other = isPackage ? workspaces.find(({ name }) => name === to) : around(to);
    if (own === undefined || other === undefined || own === other) return [];
    const shown = `${from} → ${to}`;
    if (!isPackage) return `${shown}: import ${other.name} by its name`;
    const narrower = Object.keys(NARROWER).find((folder) => from.startsWith(`${folder}/`));
    const allowed = narrower === undefined ? MAY_USE[own.class ?? 'contract'] : NARROWER[narrower]!;
    if (other.class === undefined || !allowed.includes(other.class))
      return `${shown}: ${narrower ?? `a workspace of class ${own.class}`} may not import one of class ${other.class}`;
    if (!own.dependencies.includes(to))
      return `${shown}: ${own.folder}/package.json does not depend on it`;
    return [];
  });
}
