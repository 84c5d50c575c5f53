// PeerPrograms: the programs of others with which the proxy is tried. Where one is not installed, the tests that need it are
// left out, and say so.
import { spawnSync } from 'node:child_process';

/** How each program is asked for its version, and the Debian package that has it. */
const PROGRAMS = {
  apache2: ['-v', 'apache2-bin'],
  curl: ['--version', 'curl'],
  haproxy: ['-v', 'haproxy'],
  nginx: ['-v', 'nginx'],
  php: ['--version', 'php-cli'],
  'php-cgi': ['--version', 'php-cgi'],
  python3: ['--version', 'python3'],
} as const satisfies Readonly<Record<string, readonly [string, string]>>;

export type PeerProgram = keyof typeof PROGRAMS;

/** The environment of the programs: Debian has servers where only an administrator's shell looks for programs. */
export const PEER_ENVIRONMENT = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };

/** Returns why tests that need the programs are left out, and prints it; undefined: all are installed. */
export function notTestedWithout(...programs: readonly PeerProgram[]): string | undefined {
  const missing = programs.filter(
    (name) => spawnSync(name, [PROGRAMS[name][0]], { env: PEER_ENVIRONMENT }).status !== 0,
  );
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => PROGRAMS[name][1]).join(' ');
  const reason = `not tested: there is no ${missing.join(', and no ')} (Debian: ${packages})`;
  console.log(reason);
  return reason;
}
