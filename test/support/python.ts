// Python: finds an interpreter that the SDK for Python runs with, and starts programs with it.
import { join } from 'node:path';
import { findPython } from '../../scripts/find-python.ts';
import { SvcProcess } from './host-process.ts';

const root = join(import.meta.dirname, '..', '..');
const sdk = join(root, 'process-sdk', 'python');
/** The interpreter; undefined if there is none, and then the reason is printed. */
export const python: string | undefined = findPython(['grpc', 'google.protobuf']);
if (python === undefined)
  console.log('no Python 3.11 with grpcio and protobuf: the SDK for Python is not tested');

/** Environment in which programs import the SDK from the checkout. */
export const PYTHON_ENVIRONMENT = {
  PYTHONPATH: sdk,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '',
} as const;

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
