// Python: finds an interpreter that the SDK for Python runs with, and starts programs with it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { SvcProcess } from './host-process.ts';

const root = join(import.meta.dirname, '..', '..');
const sdk = join(root, 'process-sdk', 'python');
const CHECK = 'import sys, grpc, google.protobuf; sys.exit(sys.version_info < (3, 11))';

function found(): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (program) => spawnSync(program, ['-c', CHECK], { stdio: 'ignore' }).status === 0,
  );
}

/** The interpreter; undefined if there is none, and then the reason is printed. */
export const python: string | undefined = found();
if (python === undefined)
  console.log('no Python 3.11 with grpcio and protobuf: the SDK for Python is not tested');

/** Environment in which programs import the SDK from the checkout. */
export const PYTHON_ENVIRONMENT = { PYTHONPATH: sdk, PYTHONDONTWRITEBYTECODE: '1' } as const;

/**
 * Starts a program that serves components, on a free port unless another one is given, and resolves with it and the address where it listens. The
 * caller ends it.
 */
export async function startPython(
  program: string,
  args: readonly string[] = [],
  port = 0,
): Promise<{ readonly program: SvcProcess; readonly address: string }> {
  const env = { ...PYTHON_ENVIRONMENT, SVC_PROCESS_PORT: String(port) };
  const started = new SvcProcess(args, { program, interpreter: python!, env });
  const address = await started.printed(/^listening at (\S+)$/m);
  return { program: started, address };
}
