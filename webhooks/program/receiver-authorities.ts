// ReceiverAuthorities: the certificates of authorities that receivers may have beside those that everybody trusts.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SvcError } from '@svc/kit/svc-error';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads a file of certificates in PEM. `setting`: what names the file. Rejects with SVC_SETTING_INVALID. */
export async function readReceiverAuthorities(
  path: string,
  setting: string,
): Promise<readonly string[]> {
  const where = `The file ${path} of the setting ${setting}`;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new SvcError('SVC_SETTING_INVALID', `${where} cannot be read (${code}).`);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  try {
    if (certificates.length === 0) throw new TypeError('there is none');
    return certificates.map((certificate) => new X509Certificate(certificate).toString());
  } catch (error) {
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${where} has no certificates that can be used (${(error as Error).message}). Give those of authorities, in PEM.`,
    );
  }
}
