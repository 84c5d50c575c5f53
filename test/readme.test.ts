// The README shows code and commands: what it shows is what runs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSvc, SvcProcess } from './support/host-process.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const block = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    (match) => match[1]!,
  );

const kibibytes = (text: string) => Number(/counter\.wasm\W+(\d+) KiB/.exec(text)?.[1]);

describe('the README', () => {
  test('shows the whole of fixtures/counter', () => {
    const [component] = block('ts');
    expect(component).toBe(readFileSync(join(root, 'fixtures/counter/assembly/index.ts'), 'utf8'));
  });

  test('points at files that exist', () => {
    const links = [...readme.matchAll(/\]\((?!http)([^)#]+)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  test('shows the commands of a new author, which test/programs/new-user.long.test.ts runs', () => {
    const own = block('sh').find((one) => one.includes('npx svc new '))!;
    const commands = own
      .trim()
      .split('\n')
      .map((line) => line.split(' #')[0]!.trim());
    expect(commands).toEqual([
      'npx svc new ../library',
      'cd ../library',
      'npm install',
      'npm test',
      'npm start',
    ]);
  });

  test('shows commands that work in an empty folder: build, inspect, run, curl', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'counter.ts'), block('ts')[0]!);
    const commands = block('sh').find((one) => one.includes('npx svc build counter.ts '));
    expect(commands).toBeDefined();
    const built = await runSvc(['build', 'counter.ts'], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stdout: '' });
    expect(built.stderr).toMatch(/^counter\.wasm: \d+ KiB, 1 entity, 2 routes, in [\d.]+ s\n$/);
    // About: it is a KiB more or less with every change of the SDK.
    expect(kibibytes(commands!) / kibibytes(built.stderr)).toBeGreaterThan(0.9);
    expect(kibibytes(commands!) / kibibytes(built.stderr)).toBeLessThan(1.1);

    const inspected = await runSvc(['inspect', 'counter.wasm'], { cwd: folder });
    expect(inspected.code).toBe(0);
    expect(inspected.stdout).toMatch(/^admitted\n/);
    expect(inspected.stdout).toContain('POST    /counters/{id}  (internet)');

    const svc = new SvcProcess(['run', 'counter.wasm', '--port', '0'], { cwd: folder });
    const url = await svc.listening();
    const curl = /-d '([^']+)' http:\/\/127\.0\.0\.1:9000(\S+)/.exec(commands!);
    const answer = await fetch(url + curl![2]!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: curl![1]!,
    });
    expect(await answer.json()).toEqual({ value: 5 });
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(existsSync(join(folder, '.svc', 'counter', 'journal.sqlite'))).toBe(true);
  });
});
