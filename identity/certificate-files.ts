// CertificateFiles: files of certificates and keys, read as one set. The files may be links into a folder that is replaced as
// a whole when Kubernetes renews them, so files that change while they are read are read again.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateTexts } from './certificates.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const READS_MAX = 5;

/** Files that cannot be read: a sentence for the operator. */
export interface MissingFiles {
  readonly missing: string;
}

/** Reads the three files of a certificate folder; undefined if they have changed each time that they were read. */
export async function readCertificateFiles(
  folder: string,
): Promise<CertificateTexts | MissingFiles | undefined> {
  const texts = await readTogether(
    ['tls.crt', 'tls.key', 'ca.crt'].map((name) => join(folder, name)),
  );
  if (texts === undefined || 'missing' in texts) return texts;
  const [certificate, key, authorities] = texts;
  return { certificate: certificate!, key: key!, authorities: authorities! };
}

/** Returns the texts of files, in their order; undefined if they have changed each time that they were read. */
export async function readTogether(
  files: readonly string[],
): Promise<readonly string[] | MissingFiles | undefined> {
  try {
    for (let read = 0; read < READS_MAX; read++) {
      const before = await stamps(files);
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      if ((await stamps(files)) === before) return texts;
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnfitFile) return { missing: error.message };
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { missing: `${path ?? files.join(', ')} cannot be read (${code}).` };
  }
}

class UnfitFile extends Error {}

/** Identity, size and time of each file: equal texts mean that no file was replaced or written. */
async function stamps(files: readonly string[]): Promise<string> {
  const found = await Promise.all(
    files.map(async (file) => {
      const stats = await stat(file, { bigint: true });
      const { dev, ino, size, mtimeNs } = stats;
      if (!stats.isFile()) throw new UnfitFile(`${file} is not a file.`);
      if (size > FILE_BYTES_MAX)
        throw new UnfitFile(`${file} has more than ${FILE_BYTES_MAX} bytes.`);
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    }),
  );
  return found.join('\n');
}
