// The wheel of the SDK for Python is made without a compiler, is the same each time, and serves a service from an environment of its own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findPython } from '../../../scripts/find-python.ts';
import { packWheel } from '../../../scripts/python-wheel.ts';
import { SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const builder = findPython(['grpc', 'google.protobuf', 'pip', 'setuptools', 'wheel', 'ensurepip']);
if (builder === undefined)
  console.log(
    'no Python 3.11 with grpcio, protobuf, pip, setuptools, wheel and venv: its wheel is not tested',
  );

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
}

function packed(name: string): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(join(folder, 'work'), { recursive: true });
  packWheel(root, join(folder, 'work'), join(folder, 'out'));
  const [wheel, ...others] = readdirSync(join(folder, 'out'));
  expect([wheel, others]).toEqual(['svc_process-0.1.0-py3-none-any.whl', []]);
  return join(folder, 'out', wheel!);
}

test.skipIf(builder === undefined)(
  'the wheel installs into an empty environment and serves',
  async () => {
    const wheel = packed('one');
    expect(readFileSync(packed('two')).equals(readFileSync(wheel))).toBe(true);
    const environment = join(temporaryFolder(), 'environment');
    run(builder!, '-m', 'venv', '--system-site-packages', environment);
    const python = join(environment, 'bin', 'python');
    run(
      python,
      '-m',
      'pip',
      '--disable-pip-version-check',
      'install',
      '--no-index',
      '--quiet',
      wheel,
    );
    const cart = new SvcProcess([], {
      program: join(import.meta.dirname, 'support', 'cart_program.py'),
      interpreter: python,
      env: { SVC_PROCESS_PORT: '0', PYTHONDONTWRITEBYTECODE: '1' },
    });
    onTestFinished(() => void cart.child.kill('SIGKILL'));
    const guest = await guestAt(connectionTo(await cart.printed(/^listening at (\S+)$/m)));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open({ component: 'shopping-cart', id: 'c1' }, undefined);
    expect(await entity.snapshot()).toBe('{"items":[],"checkedOut":false}');
  },
  180_000,
);
