// PythonWheel: the published package of the SDK for Python: a pure wheel, made with the tools of Python and without a compiler.
//
// Invariant: the same sources give the same bytes.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { findPython } from './find-python.ts';

/** Folder of the SDK in the repository. */
export const PYTHON_SDK = 'process-sdk/python';

const TOOLS = ['pip', 'setuptools', 'wheel'];
/** Time of all files in the wheel: the first one that its format has. */
const EPOCH_SECONDS = '315532800';
const MADE = /(?:^|\/)(?:__pycache__|build|dist|[^/]+\.egg-info)(?:\/|$)/;

/** Writes the wheel into a folder. Prints why if there is no Python with the tools. `work`: an empty folder. */
export function packWheel(root: string, work: string, out: string): void {
  const python = findPython(TOOLS);
  if (python === undefined) {
    console.log(`no Python 3.11 with ${TOOLS.join(', ')}: the wheel of ${PYTHON_SDK} is not made`);
    return;
  }
  const source = join(root, PYTHON_SDK);
  const isSource = (path: string) => !MADE.test(path.slice(source.length));
  cpSync(source, work, { recursive: true, filter: isSource });
  cpSync(join(root, 'LICENSE'), join(work, 'LICENSE'));
  const options = '--no-deps --no-build-isolation --no-index --no-cache-dir --quiet'.split(' ');
  const { status, stderr, error } = spawnSync(
    python,
    ['-m', 'pip', '--disable-pip-version-check', 'wheel', ...options, '--wheel-dir', out, work],
    { encoding: 'utf8', env: { ...process.env, SOURCE_DATE_EPOCH: EPOCH_SECONDS } },
  );
  if (status !== 0)
    throw new Error(`the wheel of ${PYTHON_SDK} is not made: ${stderr}`, { cause: error });
}
