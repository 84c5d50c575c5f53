// CopyTree: a copy of the sources in which mutants are tested, with links to installed packages and built files.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';

/** Copies `root` into the folder `tree`, which is emptied before. */
export function makeCopyTree(root: string, tree: string): void {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(join(tree, 'build'), { recursive: true });
  const leftOut = new Set(['.git', 'build', 'node_modules']);
  for (const entry of readdirSync(root))
    if (!leftOut.has(entry))
      cpSync(join(root, entry), join(tree, entry), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => !/[/\\](?:node_modules|\.svc|dist)$/.test(source),
      });
  for (const entry of readdirSync(join(root, 'build')))
    if (entry !== 'mutants') symlinkSync(join(root, 'build', entry), join(tree, 'build', entry));
  linkPackages(root, tree);
}

/** Fills the copy's node_modules with links: the project's own packages lead to the copy, all others to `root`. */
function linkPackages(root: string, tree: string): void {
  const [from, to] = [join(root, 'node_modules'), join(tree, 'node_modules')];
  mkdirSync(join(to, '@svc'), { recursive: true });
  for (const entry of readdirSync(from))
    if (entry !== '@svc') symlinkSync(join(from, entry), join(to, entry));
  const { workspaces } = json(join(root, 'package.json')) as { workspaces: readonly string[] };
  const folders = workspaces.flatMap((folder) =>
    folder.endsWith('/*')
      ? readdirSync(join(root, folder.slice(0, -2))).map((name) => join(folder.slice(0, -2), name))
      : [folder],
  );
  for (const folder of folders) {
    const manifest = join(tree, folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name } = json(manifest) as { name: string };
    symlinkSync(join(tree, folder), join(to, name));
  }
}

function json(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
