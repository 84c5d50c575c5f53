// PackedPackages: packages of the workspace as they are published, with all that they depend on, as a layer of an image.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Makes the packages of the workspaces in a folder. Returns an archive with `/app/node_modules`. */
export function archiveOfPackages(folder: string, workspaces: readonly string[]): string {
  installPackages(join(folder, 'app'), workspaces);
  const archive = join(folder, 'packages.tar');
  execFileSync('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', archive, './app']);
  return archive;
}

/** Makes the packages of the workspaces in the `node_modules` of a folder, with all that they depend on. */
export function installPackages(folder: string, workspaces: readonly string[]): void {
  const modules = join(folder, 'node_modules');
  const packed = withDependencies(workspaces);
  const pack = ['scripts/pack.ts', '--folders', '--out', join(modules, '@svc'), ...packed];
  execFileSync(process.execPath, pack, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const wanted = packed.flatMap((workspace) =>
    installedDependencies(join(modules, packageIn(join(ROOT, workspace)).name)),
  );
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const target = join(modules, name);
    if (existsSync(target)) continue;
    mkdirSync(join(target, '..'), { recursive: true });
    cpSync(join(ROOT, 'node_modules', name), target, { recursive: true });
    wanted.push(...installedDependencies(target));
  }
}

interface PackageFile {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Returns the workspaces, and those that they depend on. */
function withDependencies(workspaces: readonly string[]): readonly string[] {
  const { workspaces: all } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly workspaces: readonly string[];
  };
  const plain = all.filter((workspace) => !workspace.includes('*'));
  const byName = new Map(
    plain.map((workspace) => [packageIn(join(ROOT, workspace)).name, workspace]),
  );
  const found = new Set(workspaces);
  for (const workspace of found)
    for (const name of Object.keys(packageIn(join(ROOT, workspace)).dependencies ?? {}))
      if (byName.has(name)) found.add(byName.get(name)!);
  return [...found];
}

function packageIn(folder: string): PackageFile {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
}

/** Returns the names of the packages of others that a package depends on. */
function installedDependencies(folder: string): string[] {
  return Object.keys(packageIn(folder).dependencies ?? {}).filter(
    (name) => !name.startsWith('@svc/'),
  );
}
