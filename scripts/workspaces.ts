// Workspaces: the workspaces of the checkout, found by the patterns in its package.json. An image is built with only
// some of them, so a pattern may match nothing.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a package.json that the checkout itself reads. */
export interface WorkspaceManifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  /** Settings for the checkout alone, which the published package.json does not contain. */
  readonly svc?: {
    /** One of the classes in test/architecture/workspaces.ts. */
    readonly class?: string;
    /** Folders whose TypeScript is read or copied by users, and published as it is. */
    readonly copied?: readonly string[];
    /** Files and folders from the rest of the checkout that the package contains. */
    readonly brings?: readonly string[];
    /** Files and folders that users of the package do not need. */
    readonly unpublished?: readonly string[];
    /** True: users start the package and do not import it, so that it is published without declarations. */
    readonly isProgram?: boolean;
  };
}

export interface WorkspaceFolder {
  /** Path from the root of the checkout. */
  readonly folder: string;
  readonly manifest: WorkspaceManifest;
}

export function workspacesOf(root: string): readonly WorkspaceFolder[] {
  const { workspaces } = read(join(root, 'package.json')) as { workspaces: readonly string[] };
  return workspaces
    .flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
    .map((folder) => folder.replaceAll('\\', '/'))
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({
      folder,
      manifest: read(join(root, folder, 'package.json')) as WorkspaceManifest,
    }));
}

function read(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Returns the named packages and all workspaces on which they depend at run time (`dependencies`), each after its
 * dependencies. Ignores names that are not in `all`.
 */
export function closureOf(
  all: readonly WorkspaceFolder[],
  names: readonly string[],
): readonly WorkspaceFolder[] {
  const ordered = new Set<WorkspaceFolder>();
  const visit = (name: string): void => {
    const found = all.find(({ manifest }) => manifest.name === name);
    if (found === undefined || ordered.has(found)) return;
    for (const dependency of Object.keys(found.manifest.dependencies ?? {})) visit(dependency);
    ordered.add(found);
  };
  for (const name of names) visit(name);
  return [...ordered];
}
