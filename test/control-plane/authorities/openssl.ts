// OpenSSL: the judge of certificates that is not ours.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why the tests with OpenSSL are left out; undefined if it is there. */
export const withoutOpenssl: string | undefined =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed';
if (withoutOpenssl !== undefined) process.stderr.write(`left out: ${withoutOpenssl}\n`);

/** Verifies a chain as strictly as OpenSSL can. Returns its words. */
export function verified(
  folder: string,
  texts: { readonly authority: string; readonly leaf: string },
  ...options: readonly string[]
): string {
  const [authority, leaf] = [join(folder, 'authority.pem'), join(folder, 'leaf.pem')];
  writeFileSync(authority, texts.authority);
  writeFileSync(leaf, texts.leaf);
  const trusted = ['-CAfile', authority, '-no-CApath', '-no-CAstore'];
  const args = ['verify', '-x509_strict', '-check_ss_sig', ...trusted, ...options, leaf];
  const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return `${stdout}${stderr}`.replaceAll(leaf, 'leaf').trim();
}

/** Returns what OpenSSL reads in a certificate. */
export function printed(certificate: string): string {
  const args = ['x509', '-noout', '-text', '-nameopt', 'RFC2253'];
  return spawnSync('openssl', args, { input: certificate, encoding: 'utf8' }).stdout ?? '';
}
