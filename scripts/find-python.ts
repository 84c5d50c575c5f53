// FindPython: an interpreter of Python from 3.11 on that has modules.
import { spawnSync } from 'node:child_process';

/** Interpreters, in the order in which they are tried. */
const PROGRAMS = ['python3', '/usr/bin/python3'];

/** Returns the first interpreter from 3.11 on that has the modules; undefined if there is none. */
export function findPython(modules: readonly string[]): string | undefined {
  // The modules are not imported, because pip and setuptools cannot be imported in every order.
  const check =
    'import sys; from importlib.util import find_spec; ' +
    'sys.exit(sys.version_info < (3, 11) or not all(find_spec(name) for name in sys.argv[1:]))';
  return PROGRAMS.find(
    (program) => spawnSync(program, ['-c', check, ...modules], { stdio: 'ignore' }).status === 0,
  );
}
