// PublishedPackage: lays out one package for publishing: JavaScript and declarations instead of TypeScript, other files
// unchanged, and a package.json with the published paths. The same sources give the same files.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { javascriptOf, renamed } from './published-javascript.ts';
import { closureOf, workspacesOf } from './workspaces.ts';

export interface PublishedPackage {
  /** Folder in the repository. */
  readonly folder: string;
  /** Its name without `@svc/`. */
  readonly name: string;
  /** Folders whose TypeScript is read or copied by users and is not run, so it is published unchanged. */
  readonly asItIs: readonly string[];
  /** Files and folders from the rest of the repository that the package contains. */
  readonly foreign: readonly string[];
  /** Files and folders that are not published, because users of the package do not need them. */
  readonly sources: readonly string[];
  /** True: the package is a command or a program that nobody imports, so it needs no declarations. */
  readonly isCommand: boolean;
}

const CONSOLE = 'console';
const SCOPE = '@svc/';

/** Returns every workspace that is not private, each after its dependencies. */
export function publishedPackages(root: string): readonly PublishedPackage[] {
  const published = workspacesOf(root).filter(({ manifest }) => manifest.private !== true);
  const names = published.map(({ manifest }) => manifest.name);
  return closureOf(published, names).map(({ folder, manifest: { name, bin, svc } }) => ({
    folder,
    name: name.slice(SCOPE.length),
    asItIs: svc?.copied ?? [],
    foreign: svc?.brings ?? [],
    sources: svc?.unpublished ?? [],
    isCommand: bin !== undefined || svc?.isProgram === true,
  }));
}

export interface Repository {
  readonly root: string;
  /** Folder of the .d.ts files from the compiler; undefined: the packages get no declarations. */
  readonly declarations: string | undefined;
  /** Folder of the console's built page; undefined: the console's package gets no page. */
  readonly page: string | undefined;
}

type Exports = string | { readonly [condition: string]: Exports };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, Exports>>;
  readonly publishConfig?: { readonly access: string };
  /** Settings for the checkout alone, which are not published. */
  readonly svc?: unknown;
}

/** Matches build results and other temporary files in a folder. */
const LEFT_BEHIND = /(?:^|\/)(?:node_modules|build|dist|__pycache__|\.svc)\/|\.(?:log|wasm)$/;

/** Writes the published form of a package into the folder `target`, which is emptied before. */
export function layOut(
  { folder, asItIs, foreign, sources }: PublishedPackage,
  { root, declarations, page }: Repository,
  target: string,
): void {
  const source = join(root, folder);
  const isSource = (name: string) =>
    sources.some((path) => name === path || name.startsWith(`${path}/`));
  const names = filesOf(source).filter((name) => !isSource(name));
  const compiled = new Set(
    names.filter(
      (name) =>
        name.endsWith('.ts') && !asItIs.some((untouched) => name.startsWith(`${untouched}/`)),
    ),
  );
  const declared = new Set<string>();
  rmSync(target, { recursive: true, force: true });
  const write = (name: string, content: string | Buffer, isProgram = false) => {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    writeFileSync(join(target, name), content, { mode: isProgram ? 0o755 : 0o644 });
  };
  for (const name of names) {
    const file = join(source, name);
    if (!compiled.has(name)) {
      write(name, readFileSync(file), (statSync(file).mode & 0o100) !== 0);
      continue;
    }
    const plain = name.slice(0, -'.ts'.length);
    write(`${plain}.js`, javascriptOf(readFileSync(file, 'utf8'), name, compiled));
    if (declarations === undefined) continue;
    const types = join(declarations, folder, `${plain}.d.ts`);
    if (!existsSync(types)) continue;
    write(`${plain}.d.ts`, renamed(readFileSync(types, 'utf8'), name, compiled));
    declared.add(name);
  }
  if (folder === CONSOLE && page !== undefined)
    for (const name of filesOf(page)) write(`public/${name}`, readFileSync(join(page, name)));
  for (const path of ['LICENSE', ...foreign])
    for (const name of statSync(join(root, path)).isDirectory() ? filesOf(join(root, path)) : [''])
      write(join(path, name), readFileSync(join(root, path, name)));
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
  const published = publishedManifest(manifest, compiled, declared);
  write('package.json', `${JSON.stringify(published, null, 2)}\n`);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => !LEFT_BEHIND.test(name))
    .toSorted();
}

function publishedManifest(
  { svc: _svc, ...manifest }: Manifest,
  compiled: ReadonlySet<string>,
  declared: ReadonlySet<string>,
): Manifest {
  for (const [name, version] of Object.entries(manifest.dependencies ?? {}))
    if (name.startsWith('@svc/') && version !== manifest.version)
      throw new Error(
        `${manifest.name} ${manifest.version} depends on ${name} ${version}: they are published as one`,
      );
  // npm publishes a scoped package with restricted access by default.
  const publishConfig = { access: 'public' };
  if (manifest.exports === undefined) return { ...manifest, publishConfig };
  const exports = Object.entries(manifest.exports).map(([path, target]) => [
    path,
    publishedTarget(target, compiled, declared),
  ]);
  return {
    ...manifest,
    publishConfig,
    exports: Object.fromEntries(exports) as Manifest['exports'] & {},
  };
}

/**
 * Returns the published target of an export. The condition `types` comes first, because the first condition that
 * matches applies.
 */
function publishedTarget(
  target: Exports,
  compiled: ReadonlySet<string>,
  declared: ReadonlySet<string>,
): Exports {
  if (typeof target !== 'string')
    return Object.fromEntries(
      Object.entries(target).map(([condition, inner]) => [
        condition,
        publishedTarget(inner, compiled, declared),
      ]),
    );
  const name = target.slice('./'.length);
  if (!compiled.has(name)) return target;
  const plain = target.slice(0, -'.ts'.length);
  return declared.has(name) ? { types: `${plain}.d.ts`, default: `${plain}.js` } : `${plain}.js`;
}
