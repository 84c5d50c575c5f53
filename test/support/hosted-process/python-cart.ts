// PythonCart: the shopping cart in Python as the image of a service of hosting `process`, and the routes for members, with the interpreter and
// the packages of this machine. Linux only.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildNodeImage } from '../node-image.ts';
import { python } from '../python.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Prints the absolute paths of the interpreter, of its standard library and the packages that the SDK imports, and of the modules in C in them. */
const PATHS = `
import glob, os, sys, sysconfig, grpc, google.protobuf, six
stdlib = sysconfig.get_path('stdlib')
packages = [os.path.dirname(grpc.__file__), os.path.dirname(os.path.dirname(google.protobuf.__file__)), six.__file__]
for path in [sys.executable, stdlib, *packages]: print(path)
for folder in [stdlib, *packages]:
    for path in glob.glob(folder + '/**/*.so', recursive=True): print(path)
`;
/** Large parts of the standard library that no service needs. */
const LEFT_OUT = ['__pycache__', 'test', 'idlelib', 'tkinter', 'ensurepip', 'config-*', '*.a'];

/** Makes the files of the cart, the members, the SDK and Python in a folder. Returns an archive of them. */
export function archiveOfPython(folder: string): string {
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  cpSync(join(ROOT, 'process-sdk/python/svc_process'), join(app, 'svc_process'), {
    recursive: true,
  });
  const sources = join(ROOT, 'test/process-sdk/python/support');
  for (const name of readdirSync(sources).filter((one) => /^(cart|members)/.test(one)))
    cpSync(join(sources, name), join(app, name), { recursive: true });
  const paths = execFileSync(python!, ['-c', PATHS], { encoding: 'utf8' }).trim().split('\n');
  const own = paths.filter((path) => !path.endsWith('.so'));
  const files = [...new Set([...own, ...librariesOf(paths)])].map((path) => path.slice(1));
  const archive = join(folder, 'python.tar');
  const leftOut = LEFT_OUT.map((name) => `--exclude=${name}`);
  const options = ['--owner=0', '--group=0', '--dereference', '--hard-dereference', ...leftOut];
  execFileSync('tar', [...options, '-cf', archive, '-C', folder, './app', '-C', '/', ...files]);
  return archive;
}

/** Writes the image of the cart, with the tag 1, as an OCI layout into the folder. `version`: the one that the process names. */
export function writePythonCart(folder: string, archive: string, version: string): void {
  writePythonImage(folder, archive, ['/app/cart_program.py', version]);
}

/** Writes the image of the members, with the tag 1, as an OCI layout into the folder. */
export function writePythonMembers(folder: string, archive: string): void {
  writePythonImage(folder, archive, ['/app/members_program.py']);
}

function writePythonImage(folder: string, archive: string, cmd: readonly string[]): void {
  buildNodeImage(
    folder,
    {},
    {
      entrypoint: [
        execFileSync(python!, ['-c', 'import sys; print(sys.executable)'], {
          encoding: 'utf8',
        }).trim(),
      ],
      cmd,
      env: { PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
      user: 'node',
      tag: '1',
      archives: [archive],
    },
  );
}

/** Returns the paths of the loader and of the shared libraries that programs and modules need. */
function librariesOf(paths: readonly string[]): readonly string[] {
  const programs = paths.filter((path) => path.endsWith('.so') || path === paths[0]);
  const lines = execFileSync('ldd', programs, { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => /(?:=>|^)\s+(\/\S+) \(/.exec(line)?.[1] ?? []);
}
