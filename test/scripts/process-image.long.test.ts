// The image of a process in TypeScript by the Dockerfile of the page, built and run without Docker (support/dockerfile.ts).
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { buildImage } from './support/dockerfile.ts';
import { npmEnvironment, npmProgram, whyNoRegistry } from './support/npm.ts';

const repository = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(repository, 'docs/how-to/deploying-a-process.md'), 'utf8');
const noRegistry = whyNoRegistry();
/** Folders of packages whose name is another one. */
const WORKSPACES: Readonly<Record<string, string>> = { process: 'process-sdk/typescript' };

/** The files of node:26-slim that the steps use. */
function nodeBase(root: string): void {
  const programs = join(root, 'usr', 'local', 'bin');
  mkdirSync(programs, { recursive: true });
  copyFileSync(process.execPath, join(programs, 'node'));
  symlinkSync(npmProgram, join(programs, 'npm'));
}

test.skipIf(noRegistry !== undefined)(
  'the Dockerfile of the page makes an image of a new project, whose command serves',
  async () => {
    const folder = temporaryFolder();
    const made = await runSvc(['new', '--process', 'typescript', 'library'], { cwd: folder });
    expect(made).toMatchObject({ code: 0 });
    const context = join(folder, 'library');
    const [, names] = /svc-\{([\w,-]+)\}-0\.1\.0\.tgz packages/.exec(PAGE)!;
    const workspaces = names!.split(',').map((name) => WORKSPACES[name] ?? name);
    const pack = ['scripts/pack.ts', '--out', join(context, 'packages'), ...workspaces];
    execFileSync(process.execPath, pack, { cwd: repository, stdio: 'ignore' });
    const [, steps] = /```dockerfile\n(FROM node[^]*?)```/.exec(PAGE)!;
    writeFileSync(join(context, 'Dockerfile'), steps!);

    const image = buildImage({
      dockerfile: join(context, 'Dockerfile'),
      context,
      folder: join(folder, 'stages'),
      bases: { 'node:26-slim': nodeBase },
      env: npmEnvironment(),
    });
    expect(image.user?.uid).toBeGreaterThan(0);
    const [node, program] = image.cmd;
    const words = [
      join(image.root, 'usr', 'local', 'bin', node!),
      join(image.root, image.workdir, program!),
    ];
    const command = words.map((word) => `'${word}'`).join(' ');
    const data = ['--data', join(folder, 'data'), '--name', 'library', '--port', '0'];
    const svc = new SvcProcess(['run', '--process-command', command, ...data]);
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const answer = await fetch(`${await svc.listening()}/books/dune`);
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 200,
      body: { reader: '', count: 0 },
    });
  },
  300_000,
);
