// Python: finds an interpreter that the SDK for Python runs with, and starts programs with it.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

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

/** A program in Python that serves components. */
export interface PythonProcess {
  readonly child: ChildProcess;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
}

/** Starts a program that serves components on a free port, and resolves when it listens. The caller ends it. */
export async function startPython(
  program: string,
  args: readonly string[] = [],
): Promise<PythonProcess> {
  const child = spawn(python!, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...PYTHON_ENVIRONMENT, SVC_PROCESS_PORT: '0' },
  });
  const address = await listening(child);
  return { child, address };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const address = /^listening at (\S+)$/m.exec(stdout)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.on('close', () => reject(new Error(`it ended before it listened:\n${stderr}`)));
  });
}
