// A real deployed instance with a management server of its own.
import { onTestFinished } from 'vitest';
import { SvcProcess } from './host-process.ts';

export interface DeployedService {
  readonly svc: SvcProcess;
  /** Of its management server. */
  readonly management: string;
}

/** Resolves once its management server listens, which is before it serves. */
export async function startDeployed(
  module: string,
  dataFolder: string,
  settings: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<DeployedService> {
  const words = ['run', '--deployed', module, '--data', dataFolder, '--port', '0'];
  const sets = settings.flatMap((setting) => ['--set', setting]);
  const svc = new SvcProcess([...words, ...sets], { env });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, management: await managementOf(svc) };
}

export async function managementOf(svc: SvcProcess): Promise<string> {
  const line = /"port":(\d+),"message":"management listening"/;
  await svc.logged(line);
  return `http://127.0.0.1:${line.exec(svc.stderr)![1]}`;
}

/** Asks until the answer has the status. */
export async function untilStatus(url: string, status: number): Promise<Response> {
  for (;;) {
    const answer = await fetch(url);
    if (answer.status === status) return answer;
    await answer.arrayBuffer();
  }
}
