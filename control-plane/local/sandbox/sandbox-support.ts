// SandboxSupport: whether this machine can keep programs of images apart: its tools are there, and a sandbox was made with them as a trial.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sandboxArguments } from './bubblewrap.ts';
import { podCommand } from './pod-files.ts';
import { lookUpTools, type SandboxTools } from './sandbox-tools.ts';

/** Time for the trial of a sandbox, in milliseconds. */
const TRIAL_MS = 20_000;

export type SandboxSupport =
  | { readonly kind: 'available'; readonly tools: SandboxTools }
  /** `reason`: what is missing, worded to follow a colon. */
  | { readonly kind: 'missing'; readonly reason: string };

/** Finds the tools, and runs a program in a sandbox as a trial. `isOutbound`: whether programs may reach other machines. Never rejects. */
export async function findSandboxSupport(isOutbound: boolean): Promise<SandboxSupport> {
  if (process.platform !== 'linux') return missing('it is not Linux');
  const tools = lookUpTools(isOutbound);
  if (typeof tools === 'string') return missing(tools);
  const refusal = await trial(tools);
  return refusal === undefined
    ? { kind: 'available', tools }
    : missing(
        `it lets nobody make a sandbox (${refusal}): allow user namespaces, give bubblewrap the right to use them, and pasta the device /dev/net/tun`,
      );
}

function missing(reason: string): SandboxSupport {
  return { kind: 'missing', reason };
}

/** Returns why no sandbox can be made; undefined if one was. */
async function trial(tools: SandboxTools): Promise<string | undefined> {
  const program = sandboxArguments({
    root: '/',
    hostname: 'trial',
    user: { uid: 1000, gid: 1000 },
    workingDir: '/',
    env: { PATH: '/usr/bin:/bin' },
    readable: {},
    writable: {},
  });
  const inner = [tools.unshare, '--pid', '--fork', '--kill-child', tools.bwrap];
  const [file = '', ...args] = podCommand(tools, [...inner, ...program, '--', 'true']);
  try {
    await promisify(execFile)(file, args, { timeout: TRIAL_MS });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    return (stderr?.trim() || message).split('\n').at(-1);
  }
}
