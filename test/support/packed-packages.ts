// PackedPackages: packages of the workspace as they are published, with all that they depend on, as a layer of an image.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Makes the packages of the workspaces in a folder. Returns an archive with `/app/node_modules`. */
export function archiveOfPackages(folder: string, workspaces: readonly string[]): string {
  const modules = join(folder, 'app', 'node_modules');
  const pack = ['scripts/pack.ts', '--folders', '--out', join(modules, '@svc'), ...workspaces];
  execFileSync(process.execPath, pack, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const wanted = workspaces.flatMap((workspace) =>
    dependenciesIn(join(modules, nameOf(join(ROOT, workspace)))),
  );
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const target = join(modules, name);
    if (existsSync(target)) continue;
    mkdirSync(join(target, '..'), { recursive: true });
    cpSync(join(ROOT, 'node_modules', name), target, { recursive: true });
    wanted.push(...dependenciesIn(target));
  }
  const archive = join(folder, 'packages.tar');
  execFileSync('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', archive, './app']);
  return archive;
}

function nameOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string }).name;
}

function dependenciesIn(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies).filter((name) => !name.startsWith('@svc/'));
}
