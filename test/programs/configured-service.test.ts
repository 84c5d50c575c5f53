// `svc run` with a configuration: values that it refuses, values that change, and a secret that no output has.
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { SvcProcess } from '../support/host-process.ts';
import { observedProcess } from '../support/observed-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const SECRET = 'sk_live_4711 "quoted"';
const module = join(temporaryFolderOfFile(), 'library.wasm');
beforeAll(async () => {
  writeFileSync(module, await compileFixture('library-fees'));
});

function values() {
  const dir = temporaryFolder();
  const [file, folder] = [join(dir, 'library.yaml'), join(dir, 'secrets')];
  mkdirSync(folder);
  writeFileSync(file, 'feePerDay: "0.50"\n');
  writeFileSync(join(folder, 'paymentKey'), `${SECRET}\n`);
  chmodSync(join(folder, 'paymentKey'), 0o600);
  const put = (text: string) => {
    writeFileSync(`${dir}/new`, text);
    renameSync(`${dir}/new`, file);
  };
  return { dir, file, folder, put };
}

test('a module is not served with wrong values, and its journal is not touched', async () => {
  const { dir, file } = values();
  const data = join(dir, 'data');
  const { code, stderr } = await new SvcProcess(
    ['run', module, '--data', data, '--configuration', file, '--configure', 'daysFree=many'],
    { cwd: dir },
  ).ended;
  expect(code).toBe(1);
  expect(stderr).toContain("'daysFree' is not an integer");
  expect(stderr).toContain("'paymentKey' is missing: a text");
  expect(stderr).toContain('SVC_CONFIGURATION_INVALID');
  expect(existsSync(data)).toBe(false);
});

test('all shards read values that change, and refuse a wrong change; no output has the secret', async () => {
  const { dir, file, folder, put } = values();
  const observed = await observedProcess(dir, [
    module,
    `--configuration=${file}`,
    `--configuration-folder=${folder}`,
    '--configure=currency=SEK',
    `--data=${join(dir, 'data')}`,
    '--shards=2',
  ]);
  const { svc, url } = observed;
  const terms = async () =>
    (await fetch(`${url}/loans/terms`, { headers: { connection: 'close' } })).json();
  expect(await terms()).toEqual({ currency: 'SEK', daysFree: 14, branches: [] });

  put('feePerDay: "0.50"\ndaysFree: many\n');
  await svc.logged(/the changed configuration cannot be used/);
  expect(await terms()).toMatchObject({ daysFree: 14 });
  put('feePerDay: "0.50"\ndaysFree: 7\n');
  await svc.logged(/a new configuration is in use/);
  for (let round = 0; round < 8; round++) expect(await terms()).toMatchObject({ daysFree: 7 });

  const answers = await Promise.all(
    ['log', 'abort', 'refuse'].map(async (leak) => {
      const { status } = await fetch(`${url}/leaks/${leak}`);
      return [leak, status];
    }),
  );
  expect(answers).toEqual([
    ['log', 204],
    ['abort', 500],
    ['refuse', 409],
  ]);
  await svc.logged(/the key is \*\*\*/);
  await svc.logged(/no good: \*\*\*/);
  const outputs = await Promise.all(
    ['service', 'traces', 'faults', 'live', 'openapi.json'].map((path) => observed.raw(path)),
  );
  const traces = (outputs[1]!.body as { traces: { traceId: string }[] }).traces;
  for (const { traceId } of traces) outputs.push(await observed.raw(`traces/${traceId}`));
  expect(JSON.stringify(outputs)).toContain('***');
  const printed = [JSON.stringify(outputs), svc.stdout, svc.stderr].join('\n');
  expect(printed).not.toContain('4711');
});

test('svc inspect and svc configuration check say what is declared, and print no value', async () => {
  const { file, folder, put } = values();
  const inspected = await runCommand(['inspect', module]);
  expect(inspected.stdout).toContain(
    [
      'configuration',
      '  currency       text, default "EUR"',
      '  feePerDay      decimal, required',
      '  daysFree       integer from -2147483648 to 2147483647, default 14',
      '  branches       list, may be left out',
      '  paymentKey     text, secret, required',
    ].join('\n'),
  );
  const check = ['configuration', 'check', module, '--file', file, '--folder', folder];
  expect(await runCommand(check)).toMatchObject({
    code: 0,
    stdout: 'The configuration is complete and valid.\n',
  });
  put('feePerDay: 0.5\nfee: 1\n');
  const failed = await runCommand(check);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("'feePerDay' is not a decimal: write it in quotes");
  expect(failed.stderr).toContain('The configuration has 2 problems.');
  expect(failed.stderr).not.toContain('4711');
});
