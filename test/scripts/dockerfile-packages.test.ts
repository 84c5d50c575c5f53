// The Dockerfile names the packages that the runtime needs: the command line, and the programs with their dependencies.
// Docker cannot compute the list, so this test checks it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closureOf, workspacesOf } from '../../scripts/workspaces.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const all = workspacesOf(root);
const programs = closureOf(all, [
  '@svc/host',
  '@svc/proxy',
  '@svc/gateway',
  '@svc/control-plane',
  '@svc/registry',
  '@svc/webhooks',
]);
const folders = [...programs.map(({ folder }) => folder), 'cli'];
const dockerfile = read('Dockerfile').replaceAll(/\\\n\s*/g, '');

describe('the Dockerfile', () => {
  test('packs the programs, what they depend on, and the command line', () => {
    const [, packed] = /^RUN node scripts\/pack\.ts --folders --out \/packages (.*)$/m.exec(
      dockerfile,
    )!;
    expect(packed!.split(' ').toSorted()).toEqual(folders.toSorted());
  });

  test('installs what the programs and the packages that they depend on ask for', () => {
    const copied = [...dockerfile.matchAll(/^COPY (\S+)\/package\.json \1\/$/gm)];
    expect(copied.map(([, folder]) => folder!).toSorted()).toEqual(
      programs.map(({ folder }) => folder).toSorted(),
    );
    const [install] = /npm ci [^&]*/.exec(dockerfile)!;
    const workspaces = [...install.matchAll(/--workspace (\S+)/g)].map(([, name]) => name!);
    expect(workspaces.toSorted()).toEqual(programs.map(({ manifest }) => manifest.name).toSorted());
  });

  test('has in its context what it packs', () => {
    const context = new Set(read('.dockerignore').split('\n'));
    const brought = all
      .filter(({ folder }) => folders.includes(folder))
      .flatMap(({ folder, manifest: { svc } }) => [folder, ...(svc?.brings ?? [])]);
    expect(brought.filter((path) => !context.has(`!${path}`))).toEqual([]);
  });
});
