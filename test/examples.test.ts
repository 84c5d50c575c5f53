// The examples: each has what a newcomer looks for, and what its README shows is what happens.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findProject } from '../cli/dev/dev-project.ts';
import { projectName } from '../cli/project-name.ts';
import { compileExample } from './support/compile-fixture.ts';
import { runSvc, SvcProcess } from './support/host-process.ts';
import { python, PYTHON_ENVIRONMENT } from './support/python.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', 'examples');
const examples = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
/** The scripts of npm, of which an example in Python has none. */
function scriptsOf(example: string): Readonly<Record<string, string>> {
  if (!existsSync(join(root, example, 'package.json'))) return {};
  return (JSON.parse(read(example, 'package.json')) as { scripts: Record<string, string> }).scripts;
}
/**
 * The code of an example: a module, a program that embeds the host, or a process of its own, whose language may be Python. npm runs all but the
 * last.
 */
function kindOf(example: string): 'module' | 'program' | 'process' | 'python' {
  if (existsSync(join(root, example, 'main.py'))) return 'python';
  if (existsSync(join(root, example, 'assembly'))) return 'module';
  return scriptsOf(example)['start']!.includes('--process-command') ? 'process' : 'program';
}
const ofNpm = examples.filter((example) => kindOf(example) !== 'python');
const inPython = examples.filter((example) => kindOf(example) === 'python');
const isRunnable = (example: string) => python !== undefined || kindOf(example) !== 'python';

/** A command of a README, and the comment below it: the answer. */
interface Request {
  readonly command: string;
  /** Port in the README: 9000 is the service, and 9001 the web server beside it. */
  readonly port: string;
  readonly path: string;
  readonly init: RequestInit;
  readonly answer: string;
}

function requestsOf(readme: string): Request[] {
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^(curl (?:.*\\\n)*.*)\n# (.*)$/gm)].map(([, command, answer]) =>
      requestOf(command!.replaceAll('\\\n', ' '), answer!),
    ),
  );
}

function requestOf(command: string, answer: string): Request {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare!,
  );
  const headers = new Headers();
  const init: RequestInit = { headers };
  let target: { readonly port: string; readonly path: string } | undefined;
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    if (word === '-X') init.method = words[++at]!;
    else if (word === '-d') init.body = words[++at]!;
    else if (word === '-H') headers.append(...(words[++at]!.split(': ') as [string, string]));
    else target = targetOf(word, command);
  }
  return { command, ...target!, init, answer };
}

function targetOf(word: string, command: string) {
  const [, port, path] = /^http:\/\/127\.0\.0\.1:(900[01])(\/\S*)$/.exec(word) ?? [];
  if (port !== undefined && path !== undefined) return { port, path };
  throw new Error(
    `This test cannot make the request of "${command}": "${word}" is neither -X, -H, -d nor a URL that begins with ` +
      'http://127.0.0.1:9000/. CONTRIBUTING.md says what requests of a README look like.',
  );
}

// Compiling is the better part of these tests' time, and the limit of a test is not about it.
const modules = new Map<string, Uint8Array>();
beforeAll(async () => {
  for (const example of examples)
    if (kindOf(example) === 'module') modules.set(example, await compileExample(example));
}, 300_000);

/** Starts the module of an example as its script does. `env`: of the service. */
function startModule(example: string, env: Readonly<Record<string, string>>): SvcProcess {
  const folder = temporaryFolder();
  const module = `${example.slice(3)}.wasm`;
  // The name decides the journal, which is that of `svc dev`.
  const { name } = findProject(join(root, example));
  const script = scriptsOf(example)['start']!;
  const start = `svc build assembly/index.ts -o ${module} && svc run ${module} --name ${name}`;
  expect(script.startsWith(start)).toBe(true);
  const options = script.slice(start.length).split(' ').slice(1);
  writeFileSync(join(folder, module), modules.get(example)!);
  for (const file of options.filter((word) => existsSync(join(root, example, word))))
    copyFileSync(join(root, example, file), join(folder, file));
  // The README says how a reader makes them.
  if (options.includes('secrets')) {
    mkdirSync(join(folder, 'secrets'), { mode: 0o700 });
    writeFileSync(join(folder, 'secrets', 'paymentKey'), 'a key of the test', { mode: 0o600 });
  }
  const words = ['run', module, '--name', name, '--port', '0', ...options];
  return new SvcProcess(words, { cwd: folder, env });
}

/** Executes the commands that stand for a text in a header: `$(npx svc token --role reader)`. */
async function executed(headers: Headers, env: Readonly<Record<string, string>>): Promise<Headers> {
  const found = new Headers(headers);
  for (const [name, value] of headers) {
    const [whole, words] = /\$\(npx svc ([^)]*)\)/.exec(value) ?? [];
    if (whole === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- there is one
    const { stdout } = await runSvc(words!.split(' '), { env });
    found.set(name, value.replace(whole, stdout.trim()));
  }
  return found;
}

/** Starts the web server beside a service, which the script `site` runs; undefined if there is none. */
function startSite(example: string, runningFolder: string): SvcProcess | undefined {
  const { site } = scriptsOf(example);
  if (site === undefined) return undefined;
  const [svc, ...words] = site.replace('--port 9001', '--port 0').split(' ');
  expect(svc).toBe('svc');
  return new SvcProcess(words, {
    cwd: join(root, example),
    env: { SVC_RUNNING_DIR: runningFolder },
  });
}

function startProgram(example: string): SvcProcess {
  expect(scriptsOf(example)['start']).toBe('node src/main.ts');
  const program = join(root, example, 'src', 'main.ts');
  return new SvcProcess(['--port', '0'], { cwd: temporaryFolder(), program });
}

/** Starts the runtime of an example whose code is in a process, as its script or its README does. `env`: of the runtime. */
function startProcess(example: string, env: Readonly<Record<string, string>>): SvcProcess {
  const isPython = kindOf(example) === 'python';
  const folder = join(root, example);
  const name = `example-${example.slice(3)}`;
  const [interpreter, file] = isPython ? [python!, 'main.py'] : [process.execPath, 'src/main.ts'];
  const command = `${isPython ? 'python3' : 'node'} ${file}`;
  if (isPython)
    expect(read(example, 'README.md')).toContain(
      `svc run --process-command '${command}' --name ${name}\n`,
    );
  else {
    expect(scriptsOf(example)['start']).toBe(
      `svc run --process-command "${command}" --name ${name}`,
    );
    // The name decides the journal, which is that of `svc dev`.
    expect(projectName(folder)).toBe(name);
  }
  const own = ['--name', name, '--port', '0', '--data', temporaryFolder()];
  const words = ['run', '--process-command', `'${interpreter}' ${file}`, ...own];
  return new SvcProcess(words, { cwd: folder, env: { ...env, ...PYTHON_ENVIRONMENT } });
}

function startExample(example: string, env: Readonly<Record<string, string>>): SvcProcess {
  const kind = kindOf(example);
  if (kind === 'module') return startModule(example, env);
  return kind === 'program' ? startProgram(example) : startProcess(example, env);
}

test('git ignores in every example what it ignores in a new project', () => {
  const ignored = `${read('.gitignore')}${readFileSync(join(root, '..', '.gitignore'), 'utf8')}`;
  for (const template of ['module', 'process-typescript', 'process-python']) {
    const file = join(root, '..', 'cli', 'template', template, 'gitignore');
    const lines = readFileSync(file, 'utf8').split('\n');
    // A virtual environment is not made in an example.
    const wanted = lines.filter((line) => line !== '.venv/');
    expect(ignored.split('\n')).toEqual(expect.arrayContaining(wanted));
  }
});

describe('the examples', () => {
  test('are numbered from 01 on, and the list names them all', () => {
    expect(examples.map((name) => name.slice(0, 3))).toEqual([
      '01-',
      '02-',
      '03-',
      '04-',
      '05-',
      '06-',
      '07-',
      '08-',
      '09-',
      '10-',
      '11-',
      '12-',
    ]);
    const listed = [...read('README.md').matchAll(/^\| \[[\w-]+\]\(([\w-]+)\) \|/gm)];
    expect(listed.map((match) => match[1])).toEqual(examples);
  });

  test.for(ofNpm)('%s has tests, which npm runs', (example) => {
    expect(globSync('test/*.test.ts', { cwd: join(root, example) })).not.toEqual([]);
    expect(scriptsOf(example)['test']).toBe('vitest run');
  });

  test.skipIf(python === undefined).for(inPython)('%s has tests, which Python runs', (example) => {
    expect(read(example, 'README.md')).toContain('python3 -m unittest\n');
    const options = {
      cwd: join(root, example),
      env: { ...process.env, ...PYTHON_ENVIRONMENT },
      encoding: 'utf8',
    } as const;
    const { status, stderr } = spawnSync(python!, ['-m', 'unittest'], options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/^Ran [1-9]/m) });
  });

  test.for(examples)('%s has a README whose links lead somewhere', (example) => {
    const links = [...read(example, 'README.md').matchAll(/\]\((?!http)([^)#]+)/g)];
    expect(links.length).toBeGreaterThanOrEqual(3);
    const lost = links.filter(([, link]) => !existsSync(join(root, example, link!)));
    expect(lost).toEqual([]);
    const files = globSync(['{assembly,src,test}/*.ts', '*.py'], { cwd: join(root, example) });
    const linked = new Set(links.map(([, link]) => link));
    // The index.ts of a module in several files only registers.
    const worthReading = files.filter((file) => !file.endsWith('/index.ts') || files.length === 2);
    expect(worthReading.filter((file) => !linked.has(file))).toEqual([]);
  });

  test.for(examples.filter(isRunnable))('%s answers as its README says', async (example) => {
    const running = temporaryFolder();
    const env = { SVC_RUNNING_DIR: running, HOME: temporaryFolder() };
    const service = startExample(example, env);
    onTestFinished(async () => void (await service.end('SIGKILL')));
    const site = startSite(example, running);
    // The command of the site ends with it only if it can stop it.
    onTestFinished(async () => void (await site?.end('SIGTERM')));
    const urls = new Map([
      ['9000', await service.listening()],
      ['9001', await site?.listening()],
    ]);

    const requests = requestsOf(read(example, 'README.md'));
    expect(requests.length).toBeGreaterThanOrEqual(3);
    expect(read(example, 'README.md').match(/^curl /gm)).toHaveLength(requests.length);
    for (const { command, port, path, init, answer } of requests) {
      const request = async () => {
        const headers = await executed(new Headers(init.headers), env);
        const response = await fetch(`${urls.get(port)}${path}`, { ...init, headers });
        const body = await response.text();
        const found = body === '' ? `${response.status}, without content` : body;
        expect({ command, answer: found }).toEqual({ command, answer });
      };
      // What a reader asks for may still be on its way: a consumer runs after the answer of a request.
      if ((init.method ?? 'GET') === 'GET' && init.body === undefined)
        await vi.waitFor(request, { timeout: 10_000 });
      else await request();
    }
  });
});
